#include "tests/bench/emulated_daemons.h"

#include <unistd.h>

#include <fstream>
#include <optional>

#include "coordinator/cluster/daemon_client.h"

namespace pareto::bench {
namespace {

constexpr const char* kHere = "10.213.0.1";
constexpr const char* kThere = "10.213.0.2";
constexpr std::chrono::seconds kStartTimeout{30};
constexpr std::chrono::minutes kPatience{4};

Expected<> use_congestion_control(const std::string& name) {
  if (name.empty()) return {};
  std::ofstream file("/proc/sys/net/ipv4/tcp_congestion_control");
  file << name << std::flush;
  if (file) return {};
  return fail(ErrorCode::kUnavailable,
              "congestion control \"{}\" is not among net.ipv4.tcp_allowed_congestion_control",
              name);
}

/// Starts a daemon, its control service and its links on `host`; in the namespace of the calling
/// thread.
Expected<cluster::ChildProcess> start_daemon(const std::string& host,
                                             const std::filesystem::path& state) {
  return cluster::ChildProcess::start(
      std::filesystem::path(PARETO_BIN_DIR) / "paretod",
      {"--insecure", "--listen", host + ":0", "--data", "tcp=" + host + ":0", "--data",
       "grpc=" + host + ":0", "--state-dir", state.string(), "--log-level", "warn", "--threads",
       "1"},
      state.string() + ".log");
}

Expected<cluster::DeviceConfig> device(const char* name, cluster::ChildProcess& daemon) {
  PARETO_ASSIGN(const std::string line, daemon.wait_ready(deadline_after(kStartTimeout)));
  const auto ready = nlohmann::json::parse(line, nullptr, false);
  return cluster::DeviceConfig{name, ready.value("control", "")};
}

}  // namespace

Expected<std::unique_ptr<EmulatedDaemons>> EmulatedDaemons::start(
    const plan::LinkDirection& both_ways, const std::string& congestion_control) {
  using netem::NetworkNamespace;
  std::unique_ptr<EmulatedDaemons> made(new EmulatedDaemons);
  PARETO_ASSIGN(auto here, NetworkNamespace::create());
  PARETO_ASSIGN(auto there, NetworkNamespace::create());
  made->here_ = std::make_unique<NetworkNamespace>(std::move(here));
  made->there_ = std::make_unique<NetworkNamespace>(std::move(there));
  PARETO_TRY(made->here_->enter());
  PARETO_TRY(use_congestion_control(congestion_control));
  PARETO_TRY(made->there_->run([&] { return use_congestion_control(congestion_control); }));
  PARETO_ASSIGN(made->link_,
                netem::LinkEmulator::create({*made->here_, kHere}, {*made->there_, kThere},
                                            plan::Condition{both_ways, both_ways}));
  PARETO_ASSIGN(auto folder, TemporaryFolder::create("pareto-bench"));
  made->folder_ = std::make_unique<TemporaryFolder>(std::move(folder));
  const auto start = [&](const char* host, const char* name) -> Expected<> {
    PARETO_ASSIGN(auto daemon, start_daemon(host, made->folder_->path() / name));
    made->daemons_.push_back(std::move(daemon));
    return {};
  };
  PARETO_TRY(start(kHere, "near"));
  PARETO_TRY(made->there_->run([&] { return start(kThere, "far"); }));
  PARETO_ASSIGN(made->devices_.emplace_back(), device("near", made->daemons_[0]));
  PARETO_ASSIGN(made->devices_.emplace_back(), device("far", made->daemons_[1]));
  return made;
}

Expected<cluster::Cluster> EmulatedDaemons::connect() const {
  return cluster::Cluster::connect(devices_);
}

Expected<nlohmann::json> measure_apart(const std::string& what,
                                       const std::vector<std::string>& arguments) {
  PARETO_ASSIGN(const auto folder, TemporaryFolder::create("pareto-bench"));
  std::vector<std::string> all{what};
  all.insert(all.end(), arguments.begin(), arguments.end());
  PARETO_ASSIGN(auto process,
                cluster::ChildProcess::start("/proc/self/exe", all, folder.path() / "log"));
  PARETO_ASSIGN(const std::string line, process.wait_ready(deadline_after(kPatience)));
  return nlohmann::json::parse(line);
}

int answer_apart(int ready_fd, const std::function<Expected<nlohmann::json>()>& measure) {
  const auto measured = measure();
  if (!measured) {
    fmt::print(stderr, "{}\n", measured.error().message);
    return 1;
  }
  const std::string line = measured->dump() + "\n";
  return ::write(ready_fd, line.data(), line.size()) == std::ssize(line) ? 0 : 1;
}

}  // namespace pareto::bench
