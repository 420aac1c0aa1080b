#include "client/watch/device_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "client/watch/verdict.h"
#include "coordinator/results/disturbances.h"
#include "core/base/cpu_quota.h"
#include "core/base/text.h"
#include "core/tls/utc_text.h"

namespace pareto::watch {
namespace {

Verdict version(const DeviceHealth& device) {
  if (device.info.version == PARETO_VERSION) return ok(device.info.version);
  return warn(fmt::format("{}, this program is {}", device.info.version, PARETO_VERSION),
              "install the same version on both");
}

Verdict torch(const DeviceHealth& device, const OwnFacts& own) {
  if (device.info.torch_version == own.torch_version) return ok(device.info.torch_version);
  return warn(fmt::format("{}, here it is {}: results may differ in their last bits",
                          device.info.torch_version, own.torch_version),
              "install the same LibTorch on all where results are to be the same bit for bit");
}

Verdict threads(const DeviceHealth& device) {
  const cluster::DeviceInfo& info = device.info;
  // More than its owner allows is of no use.
  const int cores = info.limit_cores > 0 ? std::min(info.limit_cores, info.cores) : info.cores;
  const int useful = useful_threads(cores, info.cpu_quota);
  const std::string found =
      fmt::format("{} of {} core{}", info.threads, info.cores, info.cores == 1 ? "" : "s");
  constexpr const char* kRemedy = "threads: auto in its paretod.yaml";
  // A GPU computes with its own.
  if (info.device != "cpu") return ok(found);
  if (info.threads > useful && info.threads > info.cores) {
    return warn(found + ": more threads than cores hold each other up", kRemedy);
  }
  if (info.threads > useful) {
    return warn(
        fmt::format("{}, and its CPU quota is {:.3g} cores: more threads than that wait for "
                    "the next period",
                    found, info.cpu_quota),
        kRemedy);
  }
  if (info.threads < useful) return warn(found + ": the others are idle", kRemedy);
  return ok(found);
}

Verdict runs_on(const DeviceHealth& device) {
  if (device.info.device == "cpu" && device.info.cuda_devices > 0) {
    return warn("the processor, though there is a GPU", "device: cuda:0 in its paretod.yaml");
  }
  return ok(
      fmt::format("{}, cores: {}, {}", device.info.device, device.info.cores, device.info.cpu));
}

/// Returns what to do about a connection that failed at once, by the system's words for it.
std::string remedy_of_refusal(const std::string& problem) {
  const auto says = [&](const char* words) { return problem.find(words) != std::string::npos; };
  if (says("refused")) {
    return "start paretod there (systemctl status paretod), with a listen: that names this address "
           "or 0.0.0.0: the machine answers, but nothing listens at that address";
  }
  if (says("unreachable") || says("No route")) {
    return "no way leads there: is the device on, in the same network, and its address right?";
  }
  if (says("No such file") || says("Permission denied")) {
    return "start paretod there (systemctl status paretod); its socket is for its user and group";
  }
  return "start paretod there (systemctl status paretod), with a listen: that is reached from here";
}

/// Returns the remedy for a device that could not be asked something.
std::string remedy_of(const Error& problem) {
  switch (problem.code) {
    case ErrorCode::kUnavailable:
      return remedy_of_refusal(problem.message);
    case ErrorCode::kTimeout:
      return "nothing came back, not even a refusal: is the address right, and the device on? If "
             "both are, a firewall may drop what is sent to that port";
    case ErrorCode::kNotFound:
      return "mend its address, or what DNS says of it";
    case ErrorCode::kPermission:
      return "credentials that it takes: paretoctl pki list names those that were issued";
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kCorrupt:
      return "install the same version on both";
    default:
      return "its log says more (journalctl -u paretod)";
  }
}

Verdict clock(const DeviceHealth& device) {
  constexpr Nanoseconds kCoarse = std::chrono::milliseconds(5);
  if (!device.clock) {
    return failed(device.clock.error().message, remedy_of(device.clock.error()));
  }
  const std::string found =
      fmt::format("{:+.6f} s from ours, known to {:.3g} ms", to_seconds(device.clock->offset),
                  to_milliseconds(device.clock->error));
  if (device.clock->error <= kCoarse) return ok(found);
  return warn(found + ": traces place its work no better",
              "a wired or quieter network between this machine and it");
}

Verdict governor(const DeviceHealth& device) {
  const auto& governors = device.observation.machine.governors;
  if (governors.empty()) return ok("its kernel names none");
  if (std::ranges::all_of(governors, [](const auto& one) { return one == "performance"; })) {
    return ok("performance");
  }
  return warn(join(governors) + ": its clock follows the load, so times vary",
              "there: sudo cpupower frequency-set -g performance");
}

std::string remedy_for(const std::string& cause) {
  if (cause == "under_voltage") return "a power supply and a cable that give enough";
  return "a heat sink or a fan";
}

Verdict throttling(const DeviceHealth& device) {
  const control::MachineState& machine = device.observation.machine;
  if (!machine.throttled.empty()) {
    return failed("slowed down now: " + join(machine.throttled),
                  remedy_for(machine.throttled.front()));
  }
  if (machine.throttle_events > 0) {
    return warn(
        fmt::format("heat slowed it down {} times since it started", machine.throttle_events),
        remedy_for("heat"));
  }
  return ok("none");
}

Verdict temperature(const DeviceHealth& device) {
  constexpr double kWarm = 75;
  constexpr double kHot = 90;
  const auto& degrees = device.observation.machine.temperature_celsius;
  if (!degrees) return ok("it shows none");
  const std::string found = fmt::format("{:.0f} °C", *degrees);
  if (*degrees >= kHot) return failed(found, remedy_for("heat"));
  if (*degrees >= kWarm) return warn(found + ": it may slow down", remedy_for("heat"));
  return ok(found);
}

Verdict memory(const DeviceHealth& device) {
  constexpr double kLittle = 0.1;
  const control::MachineState& machine = device.observation.machine;
  if (machine.memory_bytes == 0) return ok("it does not say");
  const std::string found =
      fmt::format("{} of {} available", format_bytes(machine.memory_available_bytes),
                  format_bytes(machine.memory_bytes));
  if (static_cast<double>(machine.memory_available_bytes) >=
      kLittle * static_cast<double>(machine.memory_bytes)) {
    return ok(found);
  }
  return warn(found, "end what else runs there");
}

/// Returns whether the file system has less room than the store's limit allows, and little of that
/// is left.
bool is_disk_nearly_full(const cluster::DeviceInfo& info) {
  constexpr double kLittle = 0.1;
  if (info.store_free_bytes == 0) return false;  // not known
  const auto held = static_cast<double>(info.store_bytes);
  const auto free = static_cast<double>(info.store_free_bytes);
  return held + free < static_cast<double>(info.store_limit_bytes) &&
         free < kLittle * (held + free);
}

Verdict weights(const DeviceHealth& device) {
  constexpr double kNearlyFull = 0.9;
  if (is_disk_nearly_full(device.info)) {
    return warn(fmt::format("{}, and its file system has {} left, less than the limit of {}: the "
                            "oldest make room, and are sent again",
                            format_bytes(device.info.store_bytes),
                            format_bytes(device.info.store_free_bytes),
                            format_bytes(device.info.store_limit_bytes)),
                "free some space there, or a state_dir on a larger disk in its paretod.yaml");
  }
  const auto held = static_cast<double>(device.info.store_bytes);
  const std::string found = device.info.store_limit_bytes == 0
                                ? format_bytes(device.info.store_bytes)
                                : fmt::format("{} of {}", format_bytes(device.info.store_bytes),
                                              format_bytes(device.info.store_limit_bytes));
  if (device.info.store_limit_bytes == 0 ||
      held < kNearlyFull * static_cast<double>(device.info.store_limit_bytes)) {
    return ok(found);
  }
  return warn(found + ": the oldest make room, and are sent again",
              "a larger store_limit in its paretod.yaml");
}

Verdict quota(const DeviceHealth& device) {
  const double cores = device.info.cpu_quota;
  if (cores <= 0) return ok("none");
  const control::MachineState& machine = device.observation.machine;
  const std::string found = fmt::format("{:.3g} of {} core{}, ran out in {} of {} periods", cores,
                                        device.info.cores, device.info.cores == 1 ? "" : "s",
                                        machine.throttled_periods, machine.quota_periods);
  if (machine.throttled_periods == 0) return ok(found);
  return warn(found + ": requests then wait for the next period",
              "a larger quota (docker --cpus, CPUQuota= of its unit), or fewer threads");
}

Verdict company(const DeviceHealth& device) {
  const cluster::Observation& seen = device.observation;
  if (seen.other_pipelines == 0) return ok("no other coordinator");
  return warn(
      results::company_text({device.config.name, seen.other_coordinators, seen.other_pipelines}) +
          ": figures will vary",
      "measure when it is done, or with other devices");
}

Verdict netem(const DeviceHealth& device) {
  const std::string& problem = device.observation.machine.netem_problem;
  if (problem.empty()) return ok("can change its network");
  // Who does not ask for it may well do without.
  if (device.config.netem_interface.empty())
    return ok("no conditions of the network are asked for here; it could not make them: " +
              problem);
  return failed(
      fmt::format("the inventory names {}, but {}", device.config.netem_interface, problem),
      "allow_netem: true in its paretod.yaml, and CAP_NET_ADMIN for its daemon");
}

Verdict ports(const DeviceHealth& device) {
  std::vector<std::string> addresses;
  for (const auto& [transport, address] : device.info.data) {
    addresses.push_back(transport + " " + address);
  }
  if (!addresses.empty()) return ok(join(addresses));
  return failed("no address for data", "data: in its paretod.yaml");
}

Verdict access(const DeviceHealth& device) {
  constexpr std::chrono::days kSoon{30};
  const cluster::DeviceInfo& info = device.info;
  if (info.insecure) {
    return warn(
        "insecure: all who reach it may run programs there",
        "credentials: paretoctl pki issue here, then the paretod enroll that it prints there");
  }
  if (!info.certificate_expires) return ok("users of its machine, without a certificate");
  const std::string until = tls::utc_text(*info.certificate_expires);
  // In seconds: nanoseconds do not reach the year 9999, which certificates may name.
  const auto left = *info.certificate_expires -
                    std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const std::string remedy = "paretoctl pki renew here, then paretod enroll there";
  if (left <= left.zero()) return failed("its certificate expired " + until, remedy);
  if (left <= kSoon) return warn("its certificate expires soon: " + until, remedy);
  return ok((!info.identity ? "its certificate holds until "
                            : tls::to_string(*info.identity) + ", whose certificate holds until ") +
            until);
}

Verdict answers(const DeviceHealth& device) {
  const cluster::DeviceConfig& config = device.config;
  if (!device.problem) return ok(config.address == config.name ? "yes" : config.address);
  return failed(device.problem->message, remedy_of(*device.problem));
}

struct DeviceCheck {
  const char* name;
  Verdict (*check)(const DeviceHealth&);
};
/// Checks of devices that answer; the first group needs no observation.
constexpr std::array kDeviceChecks{
    DeviceCheck{"version", version}, DeviceCheck{"runs on", runs_on},
    DeviceCheck{"ports", ports},     DeviceCheck{"clock", clock},
    DeviceCheck{"weights", weights}, DeviceCheck{"threads", threads},
    DeviceCheck{"access", access},
};
constexpr std::array kObservedChecks{
    DeviceCheck{"governor", governor},
    DeviceCheck{"throttling", throttling},
    DeviceCheck{"temperature", temperature},
    DeviceCheck{"memory", memory},
    DeviceCheck{"CPU quota", quota},
    DeviceCheck{"company", company},
    DeviceCheck{"netem", netem},
};

}  // namespace

void check_device(const DeviceHealth& device, const OwnFacts& own, std::vector<Finding>& findings) {
  const std::string& name = device.config.name;
  findings.push_back(finding(name, "answers", answers(device)));
  if (device.problem) return;
  for (const DeviceCheck& one : kDeviceChecks) {
    findings.push_back(finding(name, one.name, one.check(device)));
  }
  findings.push_back(finding(name, "LibTorch", torch(device, own)));
  if (device.unobserved) {
    findings.push_back(
        finding(name, "state", failed(device.unobserved->message, remedy_of(*device.unobserved))));
    return;
  }
  for (const DeviceCheck& one : kObservedChecks) {
    findings.push_back(finding(name, one.name, one.check(device)));
  }
}

}  // namespace pareto::watch
