// Shared media as searches tell them apart. In a pipeline each device has one link before its stage
// and one behind it. If a device has a medium alone (its network card), the load is known when its
// stage has sent. One sum, begun again at each stage, is enough for all such media. The load of a
// medium of several devices (a Wi-Fi channel) adds up all along the plan, and needs a sum of its
// own.
#pragma once

#include <vector>

#include "partitioner/planning/cost/cost_inputs.h"

namespace pareto::search {

/// The role of a message that crosses a link on a shared channel.
struct MediumRole {
  enum class Of { kSender, kReceiver, kSeveral };

  Of of = Of::kSeveral;  ///< devices that have it
  int number = 0;        ///< among media of several devices, else 0
  double share = 1;      ///< share of the channel; see MediumUse

  Nanoseconds time(Nanoseconds occupancy) const {
    return planning::MediumUse{0, share}.time(occupancy);
  }

  bool operator==(const MediumRole&) const = default;
};

struct MediaRoles {
  int of_several = 0;    ///< media of several devices
  bool any_own = false;  ///< whether some device has one alone
  /// [from][to] as CostInputs::links, those of a link in one order. A medium of which no plan uses
  /// more than one link is not among them: its load is that link's.
  std::vector<std::vector<std::vector<MediumRole>>> links;

  /// Returns whether a plan can have to wait for any medium.
  bool any() const { return any_own || of_several > 0; }
  const std::vector<MediumRole>& link(int from, int to) const {
    return links[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }
};
MediaRoles media_roles(const planning::CostInputs& inputs);

}  // namespace pareto::search
