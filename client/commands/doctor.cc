// doctor: whether this machine and its devices are fit to measure, and what to do where they are
// not.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <thread>

#include "client/commands/commands.h"
#include "client/commands/show.h"
#include "client/flags/address_flags.h"
#include "client/flags/json_flag.h"
#include "client/flags/store_flags.h"
#include "client/report/text_table.h"
#include "client/watch/examine.h"
#include "client/watch/health.h"
#include "coordinator/cluster/network.h"
#include "coordinator/cluster/testbed_cluster.h"
#include "core/base/json_text.h"
#include "core/base/usage.h"
#include "core/transport/place.h"
#include "core/transport/transport.h"
#include "runtime/shard_runner.h"

namespace pareto::client::commands {
namespace {

using Json = nlohmann::ordered_json;

std::string sysctl(const std::string& path) {
  std::ifstream file("/proc/sys/" + path);
  std::string text;
  std::getline(file, text);
  return text;
}

std::vector<watch::ListenFacts> try_to_listen() {
  std::vector<watch::ListenFacts> listens;
  for (const auto& transport : transport::builtin_transports()) {
    if (transport->reach() == transport::Reach::kProcess) continue;
    const bool network = transport->reach() == transport::Reach::kNetwork;
    const auto listener = transport->listen(network ? "127.0.0.1:0" : "auto");
    listens.push_back({std::string(transport->name()), listener ? "" : listener.error().message});
  }
  return listens;
}

class DoctorCommand final : public Command {
 public:
  std::string_view name() const override { return "doctor"; }
  std::string_view summary() const override {
    return "check what this machine and its devices need to measure well";
  }
  std::string_view examples() const override {
    return "  paretoctl doctor\n"
           "  paretoctl doctor --devices inventory.yaml\n"
           "  sudo paretoctl doctor --testbed two-pi4\n"
           "  paretoctl doctor 10.0.0.1:7070 10.0.0.2:7070 --json\n"
           "\n"
           "Exits with 3 if something fails, and with 0 if there are only warnings.\n";
  }
  void add_options(CLI::App& app) override {
    devices_.add_to(app, "two daemons of this build, started on this machine");
    devices_.add_testbed_to(app);
    store_.add_to(app);
    add_json(app, json_);
  }

  Expected<int> run(Context& context) override {
    devices_.settle(context);
    // Before any thread is started: links are tried from the place that sweeps have.
    std::unique_ptr<cluster::JoinedNetwork> network;
    if (!devices_.testbed.empty()) {
      PARETO_ASSIGN(const cluster::ChosenTestbed chosen, cluster::find_testbed(devices_.testbed));
      if (chosen.running) {
        PARETO_ASSIGN(network, cluster::join_network(*chosen.running));
      }
    }
    watch::HealthFacts facts;
    facts.own = own_facts(context);
    if (devices_.given()) {
      PARETO_ASSIGN(const auto configs, devices_.read(context));
      std::vector<std::unique_ptr<cluster::DaemonClient>> clients =
          connect_each(configs, facts.devices);
      std::vector<cluster::DaemonClient*> answering;
      for (std::size_t i = 0; i < clients.size(); ++i) {
        if (!clients[i]) continue;
        facts.devices[i] = watch::examine_device(*clients[i]);
        answering.push_back(clients[i].get());
      }
      facts.ways = watch::examine_ways(answering);
      facts.loads = watch::watch_others(answering);
    } else {
      examine_local(context, facts);
    }
    const std::vector<watch::Finding> findings = watch::check_health(facts);
    context.out << (json_ ? json_of(findings) : text_of(findings, style_of(context)));
    const bool well = std::ranges::none_of(
        findings, [](const watch::Finding& one) { return one.severity == watch::Severity::kFail; });
    return well ? kExitDone : kExitEnvironment;
  }

 private:
  watch::OwnFacts own_facts(const Context& context) const {
    const auto runtime = runtime::runtime_info();
    watch::OwnFacts own;
    own.cores = std::thread::hardware_concurrency();
    own.boot = transport::this_place().boot;
    own.torch_version = runtime.torch_version;
    own.fast_bf16 = runtime.fast_bf16;
    own.cuda_devices = runtime.cuda_devices;
    own.congestion_control = sysctl("net/ipv4/tcp_congestion_control");
    own.slow_start_after_idle = sysctl("net/ipv4/tcp_slow_start_after_idle") == "1";
    own.store = store_.file(context).string();
    const auto opened = store_.open(context);
    if (const auto fit = opened ? (*opened)->check_writable() : tl::unexpected(opened.error());
        !fit) {
      own.store_problem = fit.error().message;
    }
    own.listens = try_to_listen();
    return own;
  }

  static void examine_local(const Context& context, watch::HealthFacts& facts) {
    facts.own.paretod = context.paretod.string();
    const auto cluster = cluster::Cluster::start_local(2, context.paretod);
    if (!cluster) {
      facts.own.paretod_problem = cluster.error().message;
      return;
    }
    std::vector<cluster::DaemonClient*> clients;
    for (std::size_t i = 0; i < cluster->size(); ++i) {
      clients.push_back(&cluster->device(i));
      facts.devices.push_back(watch::examine_device(*clients.back()));
    }
    facts.ways = watch::examine_ways(clients);
    facts.loads = watch::watch_others(clients);
  }

  static std::string json_of(const std::vector<watch::Finding>& findings) {
    auto list = Json::array();
    bool well = true;
    for (const watch::Finding& one : findings) {
      well = well && one.severity != watch::Severity::kFail;
      list.push_back({{"subject", one.subject},
                      {"check", one.check},
                      {"severity", to_string(one.severity)},
                      {"found", one.found},
                      {"remedy", one.remedy}});
    }
    return dump(Json{{"well", well}, {"findings", std::move(list)}}, 2) + "\n";
  }

  static std::string text_of(const std::vector<watch::Finding>& findings,
                             const report::ReportStyle& style) {
    report::TextTable table({{"where"}, {"check"}, {""}, {"what was found"}});
    std::string remedies;
    std::array<int, 3> count{};
    for (const watch::Finding& one : findings) {
      ++count.at(static_cast<std::size_t>(one.severity));
      table.add({one.subject, one.check, std::string(to_string(one.severity)), one.found},
                one.severity == watch::Severity::kFail   ? report::RowStyle::kBad
                : one.severity == watch::Severity::kWarn ? report::RowStyle::kWarning
                                                         : report::RowStyle::kPlain);
      if (!one.remedy.empty()) {
        // A table may have had no room for all that was found.
        remedies +=
            fmt::format("  {}, {}: {}\n    {}\n", one.subject, one.check, one.found, one.remedy);
      }
    }
    std::string text = table.render(style);
    if (!remedies.empty()) text += "\nWhat to do:\n" + remedies;
    return text +
           fmt::format("\nok: {}, warnings: {}, failures: {}\n", count[0], count[1], count[2]);
  }

  AddressFlags devices_;
  StoreFlags store_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace pareto::client::commands
