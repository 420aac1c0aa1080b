#include "daemon/daemon.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/counted.h"
#include "core/base/cpu_quota.h"
#include "core/base/cpu_time.h"
#include "core/base/log.h"
#include "core/base/machine.h"
#include "core/base/text.h"
#include "core/tls/utc_text.h"
#include "core/transport/address.h"
#include "daemon/imitation/imitated_runner.h"
#include "daemon/metrics/daemon_metrics.h"
#include "daemon/metrics/machine_state.h"

namespace pareto::daemon {
namespace {

// Time to stop for a shard that was told to, however short a request may be.
constexpr std::chrono::seconds kLeastGrace{1};

std::string host_name() {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "paretod";
  return name;
}

/// Returns the state folder; "" if neither XDG_STATE_HOME nor HOME is set.
std::filesystem::path default_state_dir() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/')
    return std::filesystem::path(state) / "pareto-edge/paretod";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') {
    return std::filesystem::path(home) / ".local/state/pareto-edge/paretod";
  }
  return {};
}

bool imitates(const DaemonConfig& config) { return config.speed > 0 || !config.steady.empty(); }

/// Returns `real`, or a factory of runners that imitate the device that the configuration names.
Expected<runtime::RunnerFactory> runners_for(const DaemonConfig& config,
                                             runtime::RunnerFactory real) {
  if (!imitates(config)) return real;
  std::shared_ptr<OperatorPaces> paces;
  if (!config.steady.empty()) {
    auto opened = OperatorPaces::open(config.steady);
    if (!opened) return fail(ErrorCode::kInvalidArgument, "steady: {}", opened.error().message);
    paces = *std::move(opened);
  }
  return imitate(std::make_shared<ImitatedDevice>(config.speed, std::move(paces)), std::move(real));
}

/// Returns the cores that shards may compute on together.
int usable_cores(const DaemonConfig& config) {
  const int cores = useful_threads();
  return config.limit_cores > 0 ? std::min(config.limit_cores, cores) : cores;
}

/// Returns the threads of a shard whose coordinator names no number.
int default_threads(const DaemonConfig& config) {
  if (config.threads == 0) return usable_cores(config);
  return config.limit_cores > 0 ? std::min(config.threads, config.limit_cores) : config.threads;
}

/// Adds to a machine's description what it imitates.
Machine described(Machine machine, const DaemonConfig& config) {
  if (config.speed > 0) machine.cpu += fmt::format(", as if {} of a core", config.speed);
  if (!config.steady.empty()) machine.cpu += ", steady by " + config.steady;
  machine.imitated = imitates(config);
  if (machine.cpu_quota > 0) machine.cpu += fmt::format(", CPU quota {:.3g}", machine.cpu_quota);
  return machine;
}

}  // namespace

DaemonParts builtin_parts() {
  DaemonParts parts;
  parts.runtime = runtime::runtime_info();
  parts.engines = runtime::engine_names();
  for (auto& transport : transport::builtin_transports())
    parts.transports.push_back(std::move(transport));
  return parts;
}

Expected<std::string> Daemon::open_store() {
  std::filesystem::path folder =
      config_.state_dir.empty() ? default_state_dir() : std::filesystem::path(config_.state_dir);
  if (folder.empty()) {
    PARETO_ASSIGN(TemporaryFolder temporary,
                  with_context(TemporaryFolder::create("paretod"),
                               "state_dir, XDG_STATE_HOME and HOME are not set"));
    temporary_state_.emplace(std::move(temporary));
    folder = temporary_state_->path();
  }
  auto opened = TensorStore::open(folder, config_.store_limit_bytes);
  if (!opened && opened.error().code == ErrorCode::kPermission) {
    opened.error().message +=
        ": name a folder that this user may write to, and no other daemon has, with --state-dir";
  }
  PARETO_ASSIGN(store_, std::move(opened));
  return folder.string();
}

Expected<> Daemon::serve_metrics(const std::string& name, const runtime::RuntimeInfo& runtime,
                                 const MemoryProbe& memory) {
  if (config_.metrics.empty()) return {};
  PARETO_ASSIGN(const auto certificate, access_.metrics_tls(config_));
  MetricsParts parts{*store_, *shards_, *stages_, name, runtime.torch_version, memory};
  parts.certificate = certificate.get();
  parts.credentials = access_.credentials.get();
  parts.insecure = config_.insecure;
  PARETO_ASSIGN(metrics_,
                metrics::MetricsServer::start(
                    config_.metrics, [parts] { return daemon_metrics(parts); }, certificate));
  spdlog::info("metrics at {}", metrics_->url());
  return {};
}

void Daemon::announce() {
  announcement_.reset();
  if (config_.discovery == "off") return;
  if (auto service = announced_service(name_, control_->address())) {
    announcement_ = std::make_unique<Announcement>(*std::move(service));
  }
}

Expected<std::unique_ptr<Daemon>> Daemon::start(const DaemonConfig& config, DaemonParts parts) {
  std::unique_ptr<Daemon> daemon(new Daemon(config));
  daemon->name_ = config.name.empty() ? host_name() : config.name;
  const std::string& name = daemon->name_;
  PARETO_ASSIGN(daemon->access_, settle_access(config));
  const Access& access = daemon->access_;
  PARETO_ASSIGN(const std::string state_dir, daemon->open_store());
  PARETO_ASSIGN(auto runners, runners_for(config, std::move(parts.runners)));
  WorkLimits limits;
  limits.load = config.load_timeout;
  limits.request = config.request_timeout;
  limits.grace = std::min(limits.grace, std::max<Nanoseconds>(limits.request, kLeastGrace));
  daemon->watch_ = std::make_shared<WorkWatch>(limits, std::move(parts.on_stuck));
  daemon->shards_ = std::make_unique<ShardCache>(
      std::move(runners),
      [store = daemon->store_.get()](const Digest& digest) { return store->get(digest); },
      config.memory_limit_bytes, parts.memory, daemon->watch_);
  daemon->shards_->set_request_memory(config.request_memory_bytes);
  StageHostOptions options;
  options.device = name;
  options.rules = {usable_cores(config), config.turns, config.limit_busy, config.limit_cores > 0};
  // An imitated device computes longer than this machine does, also while it is paused here.
  options.rules.pauses = !imitates(config);
  if (!imitates(config)) options.rules.processor = process_cpu_time;
  options.limits.max_frame_bytes = config.max_frame_bytes;
  options.credentials = access.credentials;
  PARETO_ASSIGN(daemon->stages_,
                StageHost::listen(std::move(options), std::move(parts.transports), access.data));
  daemon->network_ = std::make_unique<NetworkLease>(config.allow_netem, std::move(parts.network));
  if (config.allow_netem) clear_abandoned_networks();
  ControlParts control{*daemon->store_,
                       *daemon->shards_,
                       *daemon->stages_,
                       *daemon->network_,
                       name,
                       default_threads(config),
                       described(describe_machine(), config),
                       parts.runtime,
                       parts.engines,
                       parts.memory,
                       config.device};
  control.machine_state = [] { return machine_state(); };
  control.limit_cores = config.limit_cores;
  control.credentials = access.credentials;
  control.insecure = config.insecure;
  PARETO_TRY(daemon->serve_metrics(name, parts.runtime, parts.memory));
  const std::string socket = user_socket(config, state_dir);
  PARETO_ASSIGN(daemon->control_, ControlServer::start(access.listen, std::move(control), socket,
                                                       config.socket != kAuto));
  spdlog::info("{} serves at {}", name, daemon->control_->address());
  daemon->say_who_may_come_in();
  daemon->announce();
  return daemon;
}

std::string Daemon::ready_line() const {
  nlohmann::ordered_json line;
  line["control"] = address_from_here(control_->address());
  line["data"] = nlohmann::ordered_json::object();
  for (const DataAddress& data : stages_->addresses()) {
    line["data"][data.transport] = address_from_here(data.address);
  }
  if (metrics_) line["metrics"] = address_from_here(metrics_->address());
  if (!control_->socket().empty())
    line["socket"] = std::string(transport::kUnixScheme) + control_->socket();
  if (config_.insecure) line["insecure"] = true;
  line["pid"] = ::getpid();
  return line.dump();
}

std::string Daemon::status() const {
  std::string line = fmt::format("{} serves at {}", name_, control_->address());
  for (const DataAddress& data : stages_->addresses()) {
    line += fmt::format(", {} {}", data.transport, data.address);
  }
  if (config_.insecure) line += "; insecure: everybody is let in";
  return line + fmt::format("; stages: {}", stages_->status().size());
}

void Daemon::say_who_may_come_in() const {
  if (config_.insecure) {
    spdlog::warn("insecure: all who reach this daemon may run programs here");
  } else if (access_.credentials == nullptr) {
    spdlog::info("no credentials: only users of this machine are let in");
  } else {
    spdlog::info("mutual TLS as {}, whose certificate expires {}",
                 tls::to_string(access_.credentials->identity()),
                 tls::utc_text(access_.credentials->expiry()));
    for (const std::string& warning : access_.credentials->warnings()) spdlog::warn("{}", warning);
  }
}

void Daemon::refresh_credentials() {
  if (access_.credentials == nullptr) return;
  control_->tell_of_silent_peers();
  const auto changed = access_.credentials->refresh();
  const std::string problem = changed ? "" : changed.error().message;
  if (!changed && problem != refresh_problem_) {
    spdlog::error("{}; those that are in use stay in use", problem);
  }
  refresh_problem_ = problem;
  if (!changed || !*changed) return;
  say_who_may_come_in();
  stages_->end_refused();
  if (const auto renewed = control_->renew_credentials(); !renewed) {
    spdlog::error("{}; new calls see the old certificate", renewed.error().message);
  }
}

Daemon::Reloaded Daemon::reload(const DaemonConfig& config) {
  Reloaded changes;
  const std::string discovery = config_.discovery;
  for (const Setting& setting : settings()) {
    const std::string before = setting.get(config_);
    const std::string now = setting.get(config);
    if (before == now) continue;
    if (!setting.reloadable) {
      changes.waiting.push_back(fmt::format("{} stays \"{}\" until a restart (\"{}\" is asked for)",
                                            setting.key, before, now));
      continue;
    }
    // The text comes from the configuration itself, so it can be read.
    static_cast<void>(setting.set(config_, now));
    changes.in_use.push_back(
        fmt::format("{} is \"{}\" now (was \"{}\")", setting.key, now, before));
  }
  store_->set_limit(config_.store_limit_bytes);
  shards_->set_memory_limit(config_.memory_limit_bytes);
  shards_->set_request_memory(config_.request_memory_bytes);
  stages_->turns().set_busy(config_.limit_busy);
  static_cast<void>(set_log_level(config_.log_level));
  if (config_.discovery != discovery) announce();
  if (metrics_) metrics_->refresh_certificate();
  refresh_credentials();
  return changes;
}

void Daemon::drain() {
  const TimePoint deadline = *deadline_after(config_.drain_timeout);
  announcement_.reset();
  // This comes first: if the rest takes too long, a signal ends the process.
  network_->close();
  control_->announce_stop();
  const std::size_t cut_off = stages_->drain(deadline);
  control_->stop(deadline);
  spdlog::info("drained{}",
               cut_off == 0 ? "" : fmt::format(", {} cut off", counted(cut_off, "stage")));
}

}  // namespace pareto::daemon
