#include "coordinator/load/foreign_load_meter.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "core/base/cpu_time.h"
#include "core/base/text.h"

namespace pareto::load {
namespace {

constexpr std::chrono::milliseconds kPatience{1000};
constexpr std::chrono::seconds kBetweenLooks{2};

/// The processor times of one machine, of a reading that may be of several processes there.
struct MachineTimes {
  std::vector<std::string> devices;
  bool is_own = false;
  Nanoseconds elapsed{};
  Nanoseconds busy{};
  Nanoseconds ours{};
  int cores = 0;
  double load = 0;
  bool known = true;
};

/// Adds what one process there tells of two moments; the first one tells of the machine.
void add(MachineTimes& times, Nanoseconds elapsed, Nanoseconds cpu, const MachineLoad& before,
         const MachineLoad& after) {
  times.ours += cpu;
  if (cpu < Nanoseconds(0) || elapsed <= Nanoseconds(0)) times.known = false;
  if (times.cores > 0) return;
  times.elapsed = elapsed;
  times.busy = after.busy - before.busy;
  times.cores = after.processors;
  times.load = after.load;
  if (before.processors == 0 || after.processors == 0) times.known = false;
}

results::ForeignLoad load_of(const MachineTimes& times) {
  const double all = to_seconds(times.elapsed) * times.cores;
  return {times.is_own ? results::kThisMachine : join(times.devices), times.cores,
          std::clamp(to_seconds(times.busy - times.ours) / all, 0.0, 1.0), times.load,
          to_seconds(times.elapsed)};
}

bool is_known(const MachineTimes& times) { return times.known && times.cores > 0; }

/// Returns the machines, this one first, each with all that its processes tell of it.
std::vector<MachineTimes> machines_of(const std::vector<cluster::DeviceInfo>& infos,
                                      const std::vector<std::string>& names,
                                      const std::string& own_boot, const LoadReading& before,
                                      const LoadReading& after) {
  std::vector<std::pair<std::string, MachineTimes>> machines;
  MachineTimes own;
  own.is_own = true;
  add(own, after.own.clock - before.own.clock, after.own.cpu - before.own.cpu, before.own.load,
      after.own.load);
  machines.emplace_back(own_boot, std::move(own));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& boot = infos[i].place.boot;
    auto machine = std::ranges::find_if(
        machines, [&](const auto& known) { return !boot.empty() && known.first == boot; });
    if (machine == machines.end()) {
      machine = machines.emplace(machines.end(), boot, MachineTimes{});
    }
    MachineTimes& times = machine->second;
    times.devices.push_back(names[i]);
    if (i >= before.devices.size() || i >= after.devices.size() || !before.devices[i] ||
        !after.devices[i]) {
      times.known = false;
      continue;
    }
    const cluster::Observation& first = *before.devices[i];
    const cluster::Observation& last = *after.devices[i];
    add(times, last.clock - first.clock, last.cpu - first.cpu, first.machine.load,
        last.machine.load);
  }
  std::vector<MachineTimes> all;
  for (auto& [boot, times] : machines) all.push_back(std::move(times));
  return all;
}

std::vector<cluster::DaemonClient*> devices_of(const cluster::Cluster& cluster) {
  std::vector<cluster::DaemonClient*> devices;
  for (std::size_t i = 0; i < cluster.size(); ++i) devices.push_back(&cluster.device(i));
  return devices;
}

}  // namespace

OwnReading read_own_load() {
  return {Nanoseconds(std::chrono::steady_clock::now().time_since_epoch()), process_cpu_time(),
          machine_load()};
}

std::vector<results::ForeignLoad> foreign_load(const std::vector<cluster::DeviceInfo>& infos,
                                               const std::vector<std::string>& names,
                                               const std::string& own_boot,
                                               const LoadReading& before,
                                               const LoadReading& after) {
  std::vector<results::ForeignLoad> loads;
  for (const MachineTimes& times : machines_of(infos, names, own_boot, before, after)) {
    if (is_known(times)) loads.push_back(load_of(times));
  }
  return loads;
}

std::vector<std::optional<double>> foreign_shares(const std::vector<cluster::DeviceInfo>& infos,
                                                  const std::vector<std::string>& names,
                                                  const std::string& own_boot,
                                                  const LoadReading& before,
                                                  const LoadReading& after) {
  std::vector<std::optional<double>> shares(names.size());
  for (const MachineTimes& times : machines_of(infos, names, own_boot, before, after)) {
    if (!is_known(times)) continue;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (std::ranges::count(times.devices, names[i]) > 0) shares[i] = load_of(times).share;
    }
  }
  return shares;
}

ForeignLoadMeter::ForeignLoadMeter(const cluster::Cluster& cluster, ReadOwn own)
    : ForeignLoadMeter(devices_of(cluster), std::move(own)) {}

ForeignLoadMeter::ForeignLoadMeter(std::vector<cluster::DaemonClient*> devices, ReadOwn own)
    : devices_(std::move(devices)), read_own_(std::move(own)), silent_(devices_.size()) {}

LoadReading ForeignLoadMeter::read() {
  LoadReading reading;
  reading.devices.resize(devices_.size());
  {
    std::vector<std::jthread> asking;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (silent_[i]) continue;
      asking.emplace_back([&, i] {
        if (auto observation = devices_[i]->observe(kPatience)) {
          reading.devices[i] = *std::move(observation);
        }
      });
    }
  }
  reading.own = read_own_();
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    silent_[i] = !reading.devices[i];
    if (silent_[i] || reading.devices[i]->other_pipelines == 0) continue;
    const std::string& name = devices_[i]->config().name;
    auto known = std::ranges::find(company_, name, &results::Company::device);
    if (known == company_.end()) known = company_.insert(known, {name, 0, 0});
    known->coordinators = std::max(known->coordinators, reading.devices[i]->other_coordinators);
    known->pipelines = std::max(known->pipelines, reading.devices[i]->other_pipelines);
  }
  return reading;
}

void ForeignLoadMeter::start() {
  silent_.assign(devices_.size(), false);
  company_.clear();
  first_ = read();
  last_ = first_;
}

void ForeignLoadMeter::look() {
  const TimePoint last{std::chrono::duration_cast<TimePoint::duration>(last_.own.clock)};
  if (std::chrono::steady_clock::now() - last >= kBetweenLooks) last_ = read();
}

void ForeignLoadMeter::finish() { last_ = read(); }

std::vector<results::ForeignLoad> ForeignLoadMeter::others() const {
  const auto [infos, names] = asked();
  return foreign_load(infos, names, own_boot_, first_, last_);
}

std::vector<std::optional<double>> ForeignLoadMeter::shares() const {
  const auto [infos, names] = asked();
  return foreign_shares(infos, names, own_boot_, first_, last_);
}

std::pair<std::vector<cluster::DeviceInfo>, std::vector<std::string>> ForeignLoadMeter::asked()
    const {
  std::vector<cluster::DeviceInfo> infos;
  std::vector<std::string> names;
  for (const cluster::DaemonClient* const device : devices_) {
    infos.push_back(device->info());
    names.push_back(device->config().name);
  }
  return {std::move(infos), std::move(names)};
}

}  // namespace pareto::load
