// What a device tells of itself and its stages at one moment: proto/control.proto, Observe. Counts only grow while a stage is open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/duration_histogram.h"
#include "core/base/machine_load.h"

namespace pareto::client {

struct StageObservation {
  std::uint64_t pipeline = 0;
  std::uint32_t stage = 0;
  std::string state;    ///< "opening", "running", "draining", "failed", "closed"
  std::string failure;  ///< why it failed; empty otherwise
  std::string shard;    ///< its handle: stages of several pipelines may run the same
  std::string model;
  std::int64_t begin = 0;  ///< operators of the model
  std::int64_t end = 0;
  std::string engine;
  std::uint64_t answered = 0;  ///< requests whose values were sent on
  std::uint64_t failed = 0;    ///< requests that failed here
  std::uint64_t in_flight = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  DurationCounts wait;  ///< of requests, to be computed
  DurationCounts compute;
  Nanoseconds receiving{};                  ///< while requests were coming in
  Nanoseconds sending{};                    ///< until the link had taken what was sent
  Nanoseconds round_trip{};                 ///< to the next stage when it started; 0: not known
  std::uint64_t link_bytes_per_second = 0;  ///< the same way
};

/// What a machine does not show is left out.
struct MachineObservation {
  std::uint64_t memory_bytes = 0;  ///< what it has, or what its daemon may take
  std::uint64_t memory_available_bytes = 0;
  std::optional<double> temperature_celsius;  ///< of its warmest part
  std::optional<double> frequency_hertz;      ///< of its slowest core
  std::optional<double> frequency_max_hertz;  ///< the highest of that core
  std::vector<std::string> governors;         ///< of its cores' clocks, each once
  std::vector<std::string> throttled;         ///< why its firmware slows it down now
  std::uint64_t throttle_events = 0;          ///< how often heat slowed it down since it started
  std::string netem_problem;                  ///< why its network cannot be changed; empty: it can
  MachineLoad load{};                         ///< of all processes of the machine
  std::uint64_t quota_periods = 0;            ///< of its CPU quota, since its group was made
  std::uint64_t throttled_periods = 0;        ///< those in which the quota ran out
};

struct Observation {
  Nanoseconds clock{};  ///< the device's own: only differences mean anything
  Nanoseconds cpu{};    ///< processor time of its daemon
  std::uint64_t resident_bytes = 0;
  std::vector<StageObservation> stages;
  MachineObservation machine;
  // Coordinators other than the one that asked, and their pipelines.
  int other_coordinators = 0;  ///< those that have pipelines there
  int other_pipelines = 0;
};

}  // namespace pareto::client
