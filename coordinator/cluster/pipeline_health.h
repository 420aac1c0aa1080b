// The health of an open pipeline: its devices are asked, over their control services, if they
// are still there and run their stages.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "coordinator/cluster/deployment.h"
#include "core/base/error.h"

namespace pareto::cluster {

/// A stage that takes no more requests.
struct LostStage {
  std::size_t stage = 0;  ///< its number in the plan
  std::string device;
  /// The reason, without the device's name. kTimeout: the device did not answer.
  Error why;
  bool device_is_lost = false;  ///< it does not answer, or has forgotten what was set up there
};

/// The share of the patience after which silence on a link counts: a device whose neighbour on a
/// link sees no sign of life of it, and that has not answered by then, is lost.
inline constexpr int kConfirmingShare = 6;

/// Asks all devices at once and waits for `patience` at most. Returns the stages that are the
/// cause, none if all is well: if a device is lost, then stages that only lost their neighbour are
/// left out. `silent`: numbers of stages whose link to the coordinator showed no sign of life. A
/// device that is lost because it is silent on a link, too, is abandoned.
std::vector<LostStage> find_lost_stages(const Deployment& deployment,
                                        std::chrono::milliseconds patience,
                                        const std::vector<std::size_t>& silent = {});

/// Returns "stage 1 on pi-2: no daemon answers (Connection refused)", one behind the other; with
/// the code of the first. At least one.
Error error_of(const std::vector<LostStage>& lost);

/// Returns why a pipeline broke: the stages that were lost, if any were, and what was seen of it.
/// Devices that do not answer for `patience` are given up: the pipeline's end waits for none.
Error why_lost(Deployment& deployment, Error seen, std::chrono::milliseconds patience);

/// Returns where the oldest request in the pipeline waits: "; stage 1 on pi-2 has taken it and not
/// sent it on". Empty if a device does not answer, or if no stage holds a request.
std::string where_requests_wait(const Deployment& deployment, std::chrono::milliseconds patience);

}  // namespace pareto::cluster
