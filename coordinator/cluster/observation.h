// State of a device and its stages at one moment, as the call Observe tells it
// (proto/control.proto). Counts only grow while a stage is open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/control/device_use.h"
#include "core/control/machine_state.h"
#include "core/control/stage_report.h"

namespace pareto::cluster {

struct Observation {
  Nanoseconds clock{};  ///< the device's own: only differences mean anything
  Nanoseconds cpu{};    ///< processor time of its daemon
  Nanoseconds turns{};  ///< core time for which its stages held turns to compute
  int turn_cores = 0;   ///< cores that they may compute on together; 0: not known
  std::uint64_t resident_bytes = 0;
  std::vector<control::StageActivity> stages;
  control::MachineState machine;
  // Coordinators other than the one that asked, and their pipelines.
  int other_coordinators = 0;  ///< those that have pipelines there
  int other_pipelines = 0;
  std::vector<control::Holder> holders;  ///< other programs that use it; none for an observer
};

}  // namespace pareto::cluster
