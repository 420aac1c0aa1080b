// models, devices, doctor: what is there, and whether it is well.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <thread>

#include "client/cluster/daemon_client.h"
#include "client/commands/commands.h"
#include "client/commands/flags.h"
#include "client/commands/show.h"
#include "client/report/text_table.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/plan/json_text.h"
#include "core/runtime/shard_runner.h"
#include "core/transport/transport.h"
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
    bool all_well = true;
    for (const DeviceConfig& config : configs) all_well = ask(config, table, json) && all_well;
    context.out << (json_ ? dump(json, 2) + "\n" : table.render(style_of(context)));
    return all_well ? kExitDone : kExitEnvironment;
  }

 private:
  static bool ask(const DeviceConfig& config, TextTable& table, Json& json) {
    constexpr std::chrono::milliseconds kTimeout{3000};
    const auto unwell = [&](const std::string& why) {
      table.add({config.name, config.address, why, "", "", "", "", "", "", "", ""}, RowStyle::kBad);
      json.push_back({{"device", config.name},
                      {"address", config.address},
                      {"well", false},
                      {"problem", why}});
      return false;
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
    return true;
  }

  DeviceFlags devices_;
  bool json_ = false;
};

class DoctorCommand final : public Command {
 public:
  std::string_view name() const override { return "doctor"; }
  std::string_view summary() const override {
    return "check what this machine needs to measure well";
  }
  std::string_view examples() const override { return "  paretoctl doctor\n"; }
  void add_options(CLI::App& app) override {
    store_.add_to(app);
    app.add_flag("--json", json_, "one JSON document on stdout");
  }
  Expected<int> run(Context& context) override {
    findings_.clear();
    machine();
    store(context);
    daemons(context);
    const bool well = std::all_of(findings_.begin(), findings_.end(),
                                  [](const Finding& f) { return f.grade != "bad"; });
    if (json_) {
      auto json = Json::array();
      for (const Finding& f : findings_)
        json.push_back({{"check", f.check}, {"grade", f.grade}, {"detail", f.detail}});
      context.out << dump(json, 2) << '\n';
    } else {
      TextTable table({{"check"}, {""}, {"what was found"}});
      for (const Finding& f : findings_) {
        table.add({f.check, f.grade, f.detail},
                  f.grade == "bad" ? RowStyle::kBad : RowStyle::kPlain);
      }
      context.out << table.render(style_of(context));
    }
    return well ? kExitDone : kExitEnvironment;
  }

 private:
  struct Finding {
    std::string check;
    std::string grade;  ///< "ok", "note", "bad"
    std::string detail;
  };

  static std::string sysctl(const std::string& path) {
    std::ifstream file("/proc/sys/" + path);
    std::string text;
    std::getline(file, text);
    return text;
  }

  void machine() {
    const auto info = runtime::runtime_info();
    const unsigned cores = std::thread::hardware_concurrency();
    findings_.push_back(
        {"cores", cores >= 2 ? "ok" : "note",
         fmt::format("{}{}", cores, cores >= 2 ? "" : ": two local daemons will share it")});
    findings_.push_back({"LibTorch", "ok", info.torch_version});
    findings_.push_back({"bf16", info.fast_bf16 ? "ok" : "note",
                         info.fast_bf16 ? "the processor computes in bf16"
                                        : "emulated: --precision bf16 will be slow"});
    findings_.push_back({"CUDA devices", "ok", std::to_string(info.cuda_devices)});
    findings_.push_back({"congestion control", "ok",
                         fmt::format("{} (affects rates over lossy links)",
                                     sysctl("net/ipv4/tcp_congestion_control"))});
    const bool idle_restart = sysctl("net/ipv4/tcp_slow_start_after_idle") == "1";
    findings_.push_back({"tcp_slow_start_after_idle", idle_restart ? "note" : "ok",
                         idle_restart
                             ? "1: the first request after a pause is slow over long links; "
                               "sysctl net.ipv4.tcp_slow_start_after_idle=0"
                             : "0"});
  }

  void store(const Context& context) {
    const auto opened = store_.open(context);
    findings_.push_back({"results", opened ? "ok" : "bad",
                         opened ? store_.file(context).string() : opened.error().message});
  }

  void daemons(const Context& context) {
    for (const auto& transport : transport::builtin_transports()) {
      if (transport->reach() == transport::Reach::kProcess) continue;
      const bool network = transport->reach() == transport::Reach::kNetwork;
      const auto listener = transport->listen(network ? "127.0.0.1:0" : "auto");
      findings_.push_back(
          {fmt::format("{} on {}", transport->name(), network ? "loopback" : "this machine"),
           listener ? "ok" : "bad", listener ? "can listen" : listener.error().message});
    }
    const auto cluster = Cluster::start_local(1, context.paretod);
    findings_.push_back(
        {"paretod", cluster ? "ok" : "bad",
         cluster ? fmt::format("{} starts and answers, version {}", context.paretod.string(),
                               cluster->device(0).info().version)
                 : cluster.error().message});
  }

  StoreFlags store_;
  bool json_ = false;
  std::vector<Finding> findings_;
};

}  // namespace

std::unique_ptr<Command> make_models_command() { return std::make_unique<ModelsCommand>(); }
std::unique_ptr<Command> make_devices_command() { return std::make_unique<DevicesCommand>(); }
std::unique_ptr<Command> make_doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace pareto::client
