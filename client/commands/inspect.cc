// models, devices: what is there, and whether it is well.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>
#include <thread>
#include <utility>

#include "client/commands/commands.h"
#include "client/commands/show.h"
#include "client/flags/device_flags.h"
#include "client/flags/json_flag.h"
#include "client/report/text_table.h"
#include "coordinator/cluster/control_address.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/results/disturbances.h"
#include "core/base/counted.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "partitioner/model/readers/model_reader.h"
#include "partitioner/model/zoo/model_builder.h"

namespace pareto::client::commands {
namespace {

using Json = nlohmann::ordered_json;

class ModelsCommand final : public Command {
 public:
  std::string_view name() const override { return "models"; }
  std::string_view summary() const override { return "list the built-in models"; }
  std::string_view examples() const override { return "  paretoctl models\n"; }
  void add_options(CLI::App& app) override { add_json(app, json_); }
  Expected<int> run(Context& context) override {
    report::TextTable table(
        {{"model"}, {"input"}, {"classes", report::Align::kRight}, {"architecture"}});
    auto json = Json::array();
    for (const auto& model : model::zoo::builtin_models()) {
      const std::string input = to_string(model->default_input().per_sample);
      table.add({std::string(model->name()), input, std::to_string(model->default_classes()),
                 std::string(model->reference())});
      json.push_back({{"model", model->name()},
                      {"input", input},
                      {"classes", model->default_classes()},
                      {"reference", model->reference()}});
    }
    if (json_) {
      context.out << dump(json, 2) << '\n';
    } else {
      context.out << table.render(style_of(context))
                  << fmt::format(
                         "\nAny {} file works as well: --model FILE --input-shape 3x224x224\n",
                         model::format_names());
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
    devices_.add_to(app, DeviceNeed::kLooks);
    add_json(app, json_);
  }
  Expected<int> run(Context& context) override {
    std::vector<cluster::DeviceConfig> configs;
    std::optional<cluster::Cluster> local;
    devices_.settle(context);
    if (devices_.inventory.empty()) {
      PARETO_ASSIGN(local, devices_.connect(context, 2));
      for (std::size_t i = 0; i < local->size(); ++i) configs.push_back(local->device(i).config());
    } else {
      PARETO_ASSIGN(configs, with_context(cluster::read_devices(devices_.inventory), "--devices"));
      PARETO_TRY(devices_.credentials.apply(context, configs));
    }
    report::TextTable table({{"device"},
                             {"address"},
                             {"state"},
                             {"cores", report::Align::kRight},
                             {"memory", report::Align::kRight},
                             {"runs on", report::Align::kLeft, 1},
                             {"shards", report::Align::kRight},
                             {"store", report::Align::kRight, 1},
                             {"LibTorch", report::Align::kLeft, 2},
                             {"bf16", report::Align::kLeft, 3},
                             {"cpu", report::Align::kLeft, 4}});
    auto json = Json::array();
    std::vector<std::string> problems;
    std::vector<std::string> notes;
    const std::vector<Answer> answers = ask_all(configs);
    for (std::size_t i = 0; i < configs.size(); ++i) {
      add(configs[i], answers[i], table, json, problems, notes);
    }
    if (json_) {
      context.out << dump(json, 2) << '\n';
    } else {
      table.remove_if_repeated(1, 0);
      context.out << table.render(style_of(context));
      for (const std::string& note : notes) context.out << '\n' << note << '\n';
      for (const std::string& problem : problems) context.out << '\n' << problem << '\n';
    }
    return problems.empty() ? kExitDone : kExitEnvironment;
  }

 private:
  struct Asked {
    cluster::DeviceInfo info;
    cluster::DeviceStatus status;
    cluster::Observation seen;
  };
  using Answer = Expected<Asked>;

  /// Returns "4", or "4 (quota 1.5)".
  static std::string cores_of(const cluster::DeviceInfo& info) {
    if (info.cpu_quota <= 0) return std::to_string(info.cores);
    return fmt::format("{} (quota {:.3g})", info.cores, info.cpu_quota);
  }

  /// Returns "at most 1 core, 30 % busy, 2 GiB for shards": what its owner allows; or nothing.
  static std::string limits_of(const cluster::DeviceInfo& info) {
    std::vector<std::string> limits;
    if (info.limit_cores > 0) limits.push_back(counted(info.limit_cores, "core"));
    if (info.limit_busy < 1) limits.push_back(fmt::format("{:.3g} % busy", info.limit_busy * 100));
    if (info.memory_limit_bytes > 0) {
      limits.push_back(format_bytes(info.memory_limit_bytes) + " for shards");
    }
    return limits.empty() ? "" : "at most " + join(limits);
  }

  /// Returns when its certificate expires, in seconds since 1970; null if it has none.
  static Json expiry_of(const cluster::DeviceInfo& info) {
    if (!info.certificate_expires) return nullptr;
    return info.certificate_expires->time_since_epoch().count();
  }

  static Json holders_of(const std::vector<control::Holder>& holders) {
    auto list = Json::array();
    for (const control::Holder& holder : holders) {
      list.push_back({{"who", holder.who},
                      {"command", holder.command},
                      {"exclusive", holder.exclusive},
                      {"since_s", to_seconds(holder.since)},
                      {"lease", holder.lease},
                      {"term", holder.term}});
    }
    return list;
  }

  static Answer ask(const cluster::DeviceConfig& config) {
    constexpr std::chrono::milliseconds kTimeout{3000};
    PARETO_ASSIGN(const auto client, cluster::connect_daemon(config, kTimeout));
    PARETO_ASSIGN(cluster::DeviceStatus status, client->status(kTimeout));
    PARETO_ASSIGN(cluster::Observation seen, client->observe(kTimeout));
    return Asked{client->info(), std::move(status), std::move(seen)};
  }

  /// Asks all at once: devices that hang cost the time of one.
  static std::vector<Answer> ask_all(const std::vector<cluster::DeviceConfig>& configs) {
    std::vector<Answer> answers(configs.size(), fail(ErrorCode::kInternal, "not asked"));
    std::vector<std::jthread> asking;
    for (std::size_t i = 0; i < configs.size(); ++i) {
      asking.emplace_back([&, i] { answers[i] = ask(configs[i]); });
    }
    asking.clear();
    return answers;
  }

  /// Adds a row; a problem has room below the table.
  static void add(const cluster::DeviceConfig& config, const Answer& answer,
                  report::TextTable& table, Json& json, std::vector<std::string>& problems,
                  std::vector<std::string>& notes) {
    const auto unwell = [&](const std::string& why) {
      table.add({config.name, config.address, "not well", "", "", "", "", "", "", "", ""},
                report::RowStyle::kBad);
      problems.push_back(why);
      json.push_back({{"device", config.name},
                      {"address", config.address},
                      {"well", false},
                      {"problem", why}});
    };
    if (!answer) return unwell(answer.error().message);
    const auto& [info, status, seen] = *answer;
    for (const control::Holder& holder : seen.holders) {
      notes.push_back(fmt::format("{}: used by {}{}", config.name, control::to_string(holder),
                                  holder.exclusive ? ", and by nobody else meanwhile" : ""));
    }
    if (seen.other_pipelines > 0) {
      notes.push_back(
          config.name + ": " +
          results::company_text({config.name, seen.other_coordinators, seen.other_pipelines}));
    }
    if (const std::string limits = limits_of(info); !limits.empty()) {
      notes.push_back(config.name + ": " + limits + " (its paretod.yaml)");
    }
    if (info.insecure) {
      notes.push_back(config.name +
                      ": insecure: all who reach it may run programs there (its paretod.yaml)");
    }
    table.add({config.name, config.address, "well", cores_of(info), format_bytes(info.memory_bytes),
               info.device, std::to_string(status.shards.size() + status.other_shards),
               format_bytes(status.store_bytes), info.torch_version, info.fast_bf16 ? "fast" : "no",
               info.cpu});
    json.push_back({{"device", config.name},
                    {"address", config.address},
                    {"well", true},
                    {"version", info.version},
                    {"cpu", info.cpu},
                    {"cores", info.cores},
                    {"threads", info.threads},
                    {"cpu_quota", info.cpu_quota},
                    {"turns", info.turns},
                    {"limit_cores", info.limit_cores},
                    {"limit_busy", info.limit_busy},
                    {"memory_limit_bytes", info.memory_limit_bytes},
                    {"quota_periods", seen.machine.quota_periods},
                    {"quota_periods_throttled", seen.machine.throttled_periods},
                    {"other_coordinators", seen.other_coordinators},
                    {"other_pipelines", seen.other_pipelines},
                    {"used_by", holders_of(seen.holders)},
                    {"memory_bytes", info.memory_bytes},
                    {"torch_version", info.torch_version},
                    {"fast_bf16", info.fast_bf16},
                    {"runs_on", info.device},
                    {"engines", info.engines},
                    {"shards", status.shards.size() + status.other_shards},
                    {"stages", status.stages.size() + status.other_stages},
                    {"insecure", info.insecure},
                    {"identity", info.identity ? tls::to_string(*info.identity) : ""},
                    {"certificate_expires", expiry_of(info)},
                    {"store_bytes", status.store_bytes},
                    {"data", info.data}});
  }

  DeviceFlags devices_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_models_command() { return std::make_unique<ModelsCommand>(); }
std::unique_ptr<Command> make_devices_command() { return std::make_unique<DevicesCommand>(); }

}  // namespace pareto::client::commands
