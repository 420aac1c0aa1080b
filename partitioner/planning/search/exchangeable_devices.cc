#include "partitioner/planning/search/exchangeable_devices.h"

#include <algorithm>

namespace pareto::search {
namespace {

bool alike(const planning::LinkCodec& a, const planning::LinkCodec& b) {
  return a.figures == b.figures && a.by_position == b.by_position && a.measured == b.measured;
}

/// Returns whether two links are alike but for their shared channels.
bool alike(const planning::LinkCosts& a, const planning::LinkCosts& b) {
  return a.usable == b.usable && a.bytes_per_second == b.bytes_per_second && a.delay == b.delay &&
         a.message == b.message && a.send == b.send && a.receive == b.receive &&
         a.send_ns_per_byte == b.send_ns_per_byte &&
         a.receive_ns_per_byte == b.receive_ns_per_byte && a.measured == b.measured &&
         std::ranges::equal(a.codecs, b.codecs,
                            [](const auto& x, const auto& y) { return alike(x, y); });
}

bool alike(const planning::DeviceCosts& a, const planning::DeviceCosts& b) {
  return static_cast<const planning::StageCosts&>(a) == b && a.busy == b.busy &&
         a.weight_bytes == b.weight_bytes && a.shared_weights == b.shared_weights &&
         a.crossing_bytes == b.crossing_bytes && a.early == b.early &&
         a.memory_limit_bytes == b.memory_limit_bytes && a.too_large == b.too_large &&
         a.figures == b.figures && a.may_be_first == b.may_be_first &&
         a.may_be_last == b.may_be_last;
}

/// Returns whether exchanging the two changes nothing. That is an equivalence, so that those of a
/// group may be permuted at will.
bool exchangeable(const planning::CostInputs& inputs, const MediaRoles& media, int i, int j) {
  // From one place to another, and from a third to a fourth.
  const auto links_alike = [&](int from, int to, int other_from, int other_to) {
    return alike(inputs.link(from, to), inputs.link(other_from, other_to)) &&
           media.link(from, to) == media.link(other_from, other_to);
  };
  if (!alike(inputs.devices[static_cast<std::size_t>(i)],
             inputs.devices[static_cast<std::size_t>(j)]) ||
      !links_alike(i, j, j, i)) {
    return false;
  }
  for (int other = 0; other <= inputs.coordinator(); ++other) {
    if (other == i || other == j) continue;
    if (!links_alike(i, other, j, other) || !links_alike(other, i, other, j)) return false;
  }
  return true;
}

}  // namespace

std::vector<std::vector<int>> exchangeable_devices(const planning::CostInputs& inputs,
                                                   const MediaRoles& media) {
  std::vector<std::vector<int>> groups;
  for (int device = 0; device < inputs.coordinator(); ++device) {
    const auto same = std::ranges::find_if(groups, [&](const std::vector<int>& group) {
      return exchangeable(inputs, media, group.front(), device);
    });
    if (same == groups.end()) {
      groups.push_back({device});
    } else {
      same->push_back(device);
    }
  }
  return groups;
}

}  // namespace pareto::search
