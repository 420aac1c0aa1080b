#include "partitioner/planning/inputs/condition_links.h"

#include <algorithm>

#include "netem/token_bucket.h"

namespace pareto::planning {
namespace {

/// Returns the time that bytes take at the rate; `at_once` of them, packets' headers included, pass
/// at once.
Nanoseconds time_at_rate(std::uint64_t bytes, const plan::LinkDirection& direction,
                         std::uint64_t at_once = 0) {
  if (direction.bits_per_second == 0) return {};
  const double in_packets = static_cast<double>(bytes) * kPacketBytes / kPayloadBytes;
  const double bits = 8 * std::max(in_packets - static_cast<double>(at_once), 0.0);
  return from_nanoseconds(bits / static_cast<double>(direction.bits_per_second) * 1e9);
}

void change(transport::ProbeResult& link, const plan::LinkDirection& there,
            const plan::LinkDirection& back) {
  if (link.points.empty()) return;
  link.round_trip += there.delay + back.delay;
  const Nanoseconds least =
      std::ranges::min(link.points, {}, &transport::ProbePoint::crossing).crossing;
  // Of what is smaller than anything that was probed (values that leave early), by its rate as
  // well.
  const auto smallest = std::ranges::min(link.points, {}, &transport::ProbePoint::bytes);
  if (there.bits_per_second > 0 && smallest.bytes > 0) {
    link.points.insert(link.points.begin(), smallest);
    link.points.front().bytes = 0;
  }
  for (transport::ProbePoint& point : link.points) {
    const Nanoseconds alone = time_at_rate(point.bytes, there, netem::burst_bytes(there));
    point.crossing = there.delay + std::max(point.crossing, alone + least);
    point.interval = std::max(point.interval, time_at_rate(point.bytes, there));
  }
}

}  // namespace

bool is_predictable(const plan::Condition& condition) {
  const auto is_all = [](const plan::LinkDirection& direction) {
    return !direction.varies_by_packet() && direction.trace.empty();
  };
  return is_all(condition.forward) && is_all(condition.backward);
}

Expected<ProbedLinks> under_condition(const ProbedLinks& probed, const plan::Condition& condition) {
  if (!condition.forward.trace.empty() || !condition.backward.trace.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "a condition that changes over time cannot be predicted, only measured");
  }
  ProbedLinks links = probed;
  const std::size_t coordinator = links.size() - 1;
  const auto place = [coordinator](std::size_t end) { return end == coordinator ? 0 : end; };
  for (std::size_t from = 0; from < links.size(); ++from) {
    for (std::size_t to = 0; to < links.size(); ++to) {
      if (place(from) == place(to)) continue;
      const bool forward = place(from) < place(to);
      change(links[from][to], forward ? condition.forward : condition.backward,
             forward ? condition.backward : condition.forward);
    }
  }
  return links;
}

}  // namespace pareto::planning
