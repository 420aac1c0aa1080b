#include "client/watch/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "client/watch/device_checks.h"
#include "client/watch/own_checks.h"
#include "client/watch/verdict.h"
#include "client/watch/way_check.h"
#include "coordinator/results/disturbances.h"
#include "core/base/text.h"

namespace pareto::watch {
namespace {

/// Returns whether two devices on one machine are one daemon. A daemon has a single address in
/// shared memory, which nobody else has, under whatever name it is reached.
bool are_one_daemon(const DeviceHealth& one, const DeviceHealth& other) {
  const auto& data = one.info.data;
  const auto& others = other.info.data;
  if (data.contains("shm") && others.contains("shm")) return data.at("shm") == others.at("shm");
  return !data.empty() && data == others;
}

/// Checks whether daemons on one machine share cores.
Verdict shared_cores(const std::vector<const DeviceHealth*>& devices) {
  int threads = 0;
  for (const DeviceHealth* const device : devices) threads += device->info.threads;
  const int cores = devices.front()->info.cores;
  const std::string found = fmt::format(
      "{} threads of daemons that each may use {} cores of one machine", threads, cores);
  if (threads <= cores) return ok(found);
  return warn(found + ": unless those are others of each, they hold each other up",
              "fewer threads, or cores of their own (threads, cpu: in their paretod.yaml), or "
              "machines of their own");
}

Verdict others(const results::ForeignLoad& load) {
  const std::string found = results::load_text(load);
  if (load.share < results::kBusyShare) return ok(found);
  return warn(found + ": figures will vary",
              "end what else runs there, or measure when it is done");
}

/// Checks what devices have in common that each should have alone.
void check_together(const HealthFacts& facts, std::vector<Finding>& findings) {
  std::vector<std::vector<const DeviceHealth*>> machines;
  for (const DeviceHealth& device : facts.devices) {
    if (device.problem || device.info.place.boot.empty()) continue;
    auto machine = std::ranges::find(machines, device.info.place.boot, [](const auto& there) {
      return there.front()->info.place.boot;
    });
    if (machine == machines.end()) machine = machines.insert(machines.end(), {{}});
    const auto same = std::ranges::find_if(
        *machine, [&](const DeviceHealth* other) { return are_one_daemon(*other, device); });
    if (same == machine->end()) {
      machine->push_back(&device);
      continue;
    }
    findings.push_back(finding(
        (*same)->config.name + " and " + device.config.name, "daemon",
        failed(fmt::format("both are that of {}", device.config.address),
               "name another daemon by one of them in the inventory, or leave one of them out")));
  }
  for (std::vector<const DeviceHealth*>& there : machines) {
    const bool here = there.front()->info.place.boot == facts.own.boot;
    int most = here ? static_cast<int>(facts.own.cores) : 0;
    for (const DeviceHealth* const device : there) most = std::max(most, device->info.cores);
    // Who may use fewer has been given them.
    std::erase_if(there, [&](const DeviceHealth* device) { return device->info.cores < most; });
    if (there.size() < 2) continue;
    std::vector<std::string> names;
    for (const DeviceHealth* const device : there) names.push_back(device->config.name);
    findings.push_back(finding(join(names, " and "), "cores", shared_cores(there)));
  }
}

}  // namespace

std::string_view to_string(Severity severity) {
  constexpr std::array<std::string_view, 3> kNames{"ok", "warn", "fail"};
  return kNames.at(static_cast<std::size_t>(severity));
}

std::vector<Finding> check_health(const HealthFacts& facts) {
  std::vector<Finding> findings;
  check_own(facts.own, findings);
  for (const DeviceHealth& device : facts.devices) check_device(device, facts.own, findings);
  for (const results::ForeignLoad& load : facts.loads) {
    findings.push_back(finding(load.machine, "others", others(load)));
  }
  check_together(facts, findings);
  for (const WayFacts& one : facts.ways) check_way(one, findings);
  return findings;
}

}  // namespace pareto::watch
