// Checks whether a machine and its devices are fit to measure: a table of small functions over
// facts, each with a remedy.
//
//   the doctor command, examine_devices ──HealthFacts──▶ check_health ──Findings──▶ table, JSON
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/cluster/clock_offset.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/observation.h"
#include "coordinator/results/record.h"
#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::watch {

/// A transport that this machine was to listen on.
struct ListenFacts {
  std::string transport;
  std::string problem;  ///< empty: it can
};

/// Facts about this machine.
struct OwnFacts {
  unsigned cores = 1;
  std::string boot;  ///< boot identity of the machine; see transport::Place
  std::string torch_version;
  bool fast_bf16 = false;
  int cuda_devices = 0;
  std::string congestion_control;
  bool slow_start_after_idle = false;
  std::string store;          ///< file of the results
  std::string store_problem;  ///< empty: it can be opened
  std::vector<ListenFacts> listens;
  std::string paretod;  ///< the daemon of this build; empty: it was not tried
  std::string paretod_problem;
};

struct DeviceHealth {
  cluster::DeviceConfig config;
  std::optional<Error> problem;  ///< why it could not be asked; the rest is empty then
  cluster::DeviceInfo info;
  cluster::Observation observation;
  std::optional<Error> unobserved;  ///< it answers, but not this
  Expected<cluster::ClockOffset> clock;
};

/// A way from this machine, or a device, to a device's data address.
struct WayFacts {
  std::string from;
  std::string to;
  std::string transport;
  std::string address;
  std::string problem;  ///< empty: it is reached
  Nanoseconds round_trip{};
  /// True if both ends are known to be in networks of their own: a loopback address then leads
  /// elsewhere.
  bool apart = false;
  /// Address in the inventory of the device that is reached: a data address takes its host from
  /// there.
  std::string control{};
};

struct HealthFacts {
  OwnFacts own;
  std::vector<DeviceHealth> devices;
  std::vector<WayFacts> ways;
  /// Loads of the machines, while the devices were examined.
  std::vector<results::ForeignLoad> loads;
};

enum class Severity {
  kOk,
  kWarn,  ///< figures may be worse than they need be
  kFail,  ///< it does not work, or figures are worthless
};
/// Returns "ok", "warn", "fail".
std::string_view to_string(Severity severity);

struct Finding {
  std::string subject;  ///< "this machine", "pi-1", "pi-1 to pi-2", "pi-1 and pi-2"
  std::string check;    ///< "governor"
  Severity severity = Severity::kOk;
  std::string found;
  std::string remedy;  ///< empty where all is well
};

/// Returns what every check says of everything it is about, in the order of the facts.
std::vector<Finding> check_health(const HealthFacts& facts);

}  // namespace pareto::watch
