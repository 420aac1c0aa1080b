#include "partitioner/planning/search/media_roles.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace pareto::search {
namespace {

/// A link that passes a medium.
struct Passage {
  int from;
  int to;
  double share;
};

/// Returns the passages by shared channel.
std::vector<std::vector<Passage>> passages(const planning::CostInputs& inputs) {
  std::vector<std::vector<Passage>> media(static_cast<std::size_t>(inputs.media));
  for (int from = 0; from <= inputs.coordinator(); ++from) {
    for (int to = 0; to <= inputs.coordinator(); ++to) {
      const planning::LinkCosts& link = inputs.link(from, to);
      if (from == to || !link.usable) continue;
      for (const planning::MediumUse& use : link.media) {
        media[static_cast<std::size_t>(use.medium)].push_back({from, to, use.share});
      }
    }
  }
  return media;
}

/// Returns the devices at which all of a medium's links begin or end. One: it has it alone. Two:
/// there are no links but between them.
std::vector<int> common_devices(const std::vector<Passage>& links, int devices) {
  std::vector<int> found;
  for (int device = 0; device < devices; ++device) {
    if (std::ranges::all_of(
            links, [=](const Passage& one) { return one.from == device || one.to == device; })) {
      found.push_back(device);
    }
  }
  return found;
}

/// Returns whether a plan can use one of the links before a stage of the device, and one behind it.
bool pass_twice(const std::vector<Passage>& links, int device) {
  const auto sends = [=](const Passage& one) { return one.from == device; };
  return std::ranges::any_of(links, sends) && !std::ranges::all_of(links, sends);
}

}  // namespace

MediaRoles media_roles(const planning::CostInputs& inputs) {
  MediaRoles roles;
  const auto ends = static_cast<std::size_t>(inputs.coordinator()) + 1;
  roles.links.assign(ends, std::vector<std::vector<MediumRole>>(ends));
  std::set<int> owners;  // of one medium each: two have no common sum
  for (const std::vector<Passage>& links : passages(inputs)) {
    const std::vector<int> common = common_devices(links, inputs.coordinator());
    const bool has_owner = common.size() == 1;
    if (common.size() > 1 || (has_owner && !pass_twice(links, common.front()))) continue;
    const bool own = has_owner && owners.insert(common.front()).second;
    for (const auto& [from, to, share] : links) {
      MediumRole role{MediumRole::Of::kSeveral, roles.of_several, share};
      if (own) {
        const bool sends = from == common.front();
        role = {sends ? MediumRole::Of::kSender : MediumRole::Of::kReceiver, 0, share};
      }
      roles.links[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)].push_back(role);
    }
    roles.any_own = roles.any_own || own;
    if (!own) ++roles.of_several;
  }
  for (auto& row : roles.links) {
    for (auto& link : row) {
      std::ranges::sort(link, {}, [](const MediumRole& role) {
        return std::pair{role.of, role.number};
      });
    }
  }
  return roles;
}

}  // namespace pareto::search
