#include "partitioner/planning/search/point_front.h"

#include <algorithm>
#include <utility>

namespace pareto::planning {
namespace {

// Latency times window does not fit into 64 bits.
__extension__ using Wide = __int128;

/// Whether a's throughput is at least b's.
bool as_fast(const PointFront::Entry& a, const PointFront::Entry& b) {
  return Wide{a.window} * b.latency >= Wide{b.window} * a.latency;
}

bool as_good(const PointFront::Entry& a, const PointFront::Entry& b) {
  return a.latency <= b.latency && a.third <= b.third && as_fast(a, b);
}

/// Whether a point stands before another in the result. What is as good as a point never stands
/// behind it, unless they are equal.
bool stands_before(const PointFront::Entry& a, const PointFront::Entry& b) {
  if (a.latency != b.latency) return a.latency < b.latency;
  if (a.window != b.window) return a.window > b.window;
  return a.third < b.third;
}

}  // namespace

bool PointFront::covers_point(const Entry& point) const {
  // From the end: points a little faster than this one are likely to be as good in throughput too.
  auto it = std::upper_bound(
      entries_.begin(), entries_.end(), point.latency,
      [](std::int64_t latency, const Entry& entry) { return latency < entry.latency; });
  while (it != entries_.begin()) {
    if (as_good(*--it, point)) return true;
  }
  return false;
}

bool PointFront::covers(const Criteria& criteria) const {
  for (const std::int64_t window : windows_of(criteria)) {
    const std::int64_t response = std::max(criteria.latency, window * criteria.bottleneck);
    if (!covers_point({response, window, criteria.third, 0})) return false;
  }
  return true;
}

std::array<std::int64_t, 2> PointFront::windows_of(const Criteria& criteria) const {
  const std::int64_t below = criteria.latency / criteria.bottleneck;
  const std::int64_t above = below + (criteria.latency % criteria.bottleneck == 0 ? 0 : 1);
  return {std::clamp<std::int64_t>(below, windows_.least, windows_.most),
          std::clamp<std::int64_t>(above, windows_.least, windows_.most)};
}

bool PointFront::add_point(const Entry& point) {
  if (covers_point(point)) return false;
  std::erase_if(entries_, [&](const Entry& other) { return as_good(point, other); });
  entries_.insert(std::lower_bound(entries_.begin(), entries_.end(), point, stands_before), point);
  return true;
}

bool PointFront::add(OperatingPoint point, std::int64_t third, std::size_t witness) {
  return add_point({point.latency.count(), point.window, third, witness});
}

bool PointFront::add(const Criteria& criteria, std::size_t witness) {
  bool kept = false;
  for (const std::int64_t window : windows_of(criteria)) {
    const std::int64_t response = std::max(criteria.latency, window * criteria.bottleneck);
    kept = add_point({response, window, criteria.third, witness}) || kept;
  }
  return kept;
}

std::int64_t third_of(const Evaluation& evaluation, ThirdObjective third) {
  switch (third) {
    case ThirdObjective::kNone:
      return 0;
    case ThirdObjective::kEnergy:
      return evaluation.energy_picojoules;
    case ThirdObjective::kMemory:
      return evaluation.peak_memory_bytes;
    case ThirdObjective::kLoss:
      return evaluation.loss;
  }
  return 0;
}

Expected<std::vector<FrontPoint>> with_placements(const PointFront& front,
                                                  std::span<const Placement> witnesses,
                                                  const CostInputs& inputs,
                                                  const SearchOptions& options) {
  std::vector<FrontPoint> points;
  for (const PointFront::Entry& entry : front.entries()) {
    const Placement& placement = witnesses[entry.witness];
    PARETO_ASSIGN(const Evaluation evaluation, evaluate(inputs, placement));
    const int window = static_cast<int>(entry.window);
    const OperatingPoint point = at_window(evaluation, window);
    if (point.latency.count() != entry.latency ||
        third_of(evaluation, options.third) != entry.third) {
      return fail(ErrorCode::kInternal, "a placement found at {} ns takes {} ns", entry.latency,
                  point.latency.count());
    }
    points.push_back({point, entry.third, placement, evaluation});
  }
  return points;
}

Expected<> check_search(const CostInputs& inputs, const SearchOptions& options) {
  PARETO_TRY(check(inputs));
  const WindowRange& windows = options.windows;
  if (windows.least < 1 || windows.most < windows.least || windows.most > kLargestSearchedWindow) {
    return fail(ErrorCode::kInvalidArgument, "windows from {} to {}", windows.least, windows.most);
  }
  return {};
}

void add_placement(const CostInputs& inputs, const SearchOptions& options, Placement placement,
                   PointFront& front, std::vector<Placement>& witnesses) {
  const auto evaluation = evaluate(inputs, placement);
  if (!evaluation) return;
  bool kept = false;
  for (const OperatingPoint& point : operating_points(*evaluation, options.windows)) {
    kept = front.add(point, third_of(*evaluation, options.third), witnesses.size()) || kept;
  }
  if (kept) witnesses.push_back(std::move(placement));
}

void add_lone_devices(const CostInputs& inputs, const SearchOptions& options, PointFront& front,
                      std::vector<Placement>& witnesses) {
  const int coordinator = inputs.coordinator();
  for (int device = 0; device < coordinator; ++device) {
    for (int there = 0; there < codec_count(inputs.link(coordinator, device)); ++there) {
      for (int back = 0; back < codec_count(inputs.link(device, coordinator)); ++back) {
        add_placement(inputs, options, {{{device, 0, inputs.positions()}}, {there, back}}, front,
                      witnesses);
      }
    }
  }
}

}  // namespace pareto::planning
