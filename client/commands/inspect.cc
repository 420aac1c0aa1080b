// models, devices: what is there, and whether it is well.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "client/cluster/daemon_client.h"
#include "client/commands/commands.h"
#include "client/commands/flags.h"
#include "client/commands/show.h"
#include "client/report/text_table.h"
#include "core/base/text.h"
#include "core/plan/json_text.h"
#include "partitioner/models/model_builder.h"

namespace pareto::client {
namespace {

using Json = nlohmann::ordered_json;

class ModelsCommand final : public Command {
 public:
  std::string_view name() const override { return "models"; }
  std::string_view summary() const override { return "list the built-in models"; }
  std::string_view examples() const override { return "  paretoctl models\n"; }
  void add_options(CLI::App& app) override {
    app.add_flag("--json", json_, "one JSON document on stdout");
  }
  Expected<int> run(Context& context) override {
    TextTable table({{"model"}, {"input"}, {"architecture"}});
    auto json = Json::array();
    for (const auto& model : partitioner::builtin_models()) {
      const std::string input = to_string(model->default_input().per_sample);
      table.add({std::string(model->name()), input, std::string(model->reference())});
      json.push_back(
          {{"model", model->name()}, {"input", input}, {"reference", model->reference()}});
    }
    if (json_) {
      context.out << dump(json, 2) << '\n';
    } else {
      context.out
          << table.render(style_of(context))
          << "\nAny TorchScript file works as well: --model FILE.pt --input-shape 3x224x224\n";
    }
    return kExitDone;
  }

 private:
  bool json_ = false;
};

class DevicesCommand final : public Command {
 public:
  std::string_view name() const override { return "devices"; }
  std::string_view summary() const override { return "ask every device of an inventory how it is"; }
  std::string_view examples() const override {
    return "  paretoctl devices --devices inventory.yaml\n";
  }
  void add_options(CLI::App& app) override {
    devices_.add_to(app);
    app.add_flag("--json", json_, "one JSON document on stdout");
  }
  Expected<int> run(Context& context) override {
    std::vector<DeviceConfig> configs;
    std::optional<Cluster> local;
    if (devices_.inventory.empty()) {
      PARETO_ASSIGN(local, devices_.connect(context, 2));
      for (std::size_t i = 0; i < local->size(); ++i) configs.push_back(local->device(i).config());
    } else {
      PARETO_ASSIGN(configs, read_inventory(devices_.inventory));
    }
    TextTable table({{"device"},
                     {"address"},
                     {"state"},
                     {"cores", Align::kRight},
                     {"memory", Align::kRight},
                     {"runs on", Align::kLeft, 1},
                     {"shards", Align::kRight},
                     {"store", Align::kRight, 1},
                     {"LibTorch", Align::kLeft, 2},
                     {"bf16", Align::kLeft, 3},
                     {"cpu", Align::kLeft, 4}});
    auto json = Json::array();
    std::vector<std::string> problems;
    for (const DeviceConfig& config : configs) ask(config, table, json, problems);
    if (json_) {
      context.out << dump(json, 2) << '\n';
    } else {
      context.out << table.render(style_of(context));
      for (const std::string& problem : problems) context.out << '\n' << problem << '\n';
    }
    return problems.empty() ? kExitDone : kExitEnvironment;
  }

 private:
  /// What is wrong has room below the table.
  static void ask(const DeviceConfig& config, TextTable& table, Json& json,
                  std::vector<std::string>& problems) {
    constexpr std::chrono::milliseconds kTimeout{3000};
    const auto unwell = [&](const std::string& why) {
      table.add({config.name, config.address, "not well", "", "", "", "", "", "", "", ""},
                RowStyle::kBad);
      problems.push_back(why);
      json.push_back({{"device", config.name},
                      {"address", config.address},
                      {"well", false},
                      {"problem", why}});
    };
    const auto client = connect_daemon(config, kTimeout);
    if (!client) return unwell(client.error().message);
    const auto status = (*client)->status(kTimeout);
    if (!status) return unwell(status.error().message);
    const DeviceInfo& info = (*client)->info();
    table.add({config.name, config.address, "well", std::to_string(info.cores),
               format_bytes(info.memory_bytes), info.device, std::to_string(status->shards.size()),
               format_bytes(status->store_bytes), info.torch_version,
               info.fast_bf16 ? "fast" : "no", info.cpu});
    json.push_back({{"device", config.name},
                    {"address", config.address},
                    {"well", true},
                    {"version", info.version},
                    {"cpu", info.cpu},
                    {"cores", info.cores},
                    {"memory_bytes", info.memory_bytes},
                    {"torch_version", info.torch_version},
                    {"fast_bf16", info.fast_bf16},
                    {"runs_on", info.device},
                    {"engines", info.engines},
                    {"shards", status->shards.size()},
                    {"stages", status->stages.size()},
                    {"store_bytes", status->store_bytes},
                    {"data", info.data}});
  }

  DeviceFlags devices_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_models_command() { return std::make_unique<ModelsCommand>(); }
std::unique_ptr<Command> make_devices_command() { return std::make_unique<DevicesCommand>(); }

}  // namespace pareto::client
