#include "partitioner/planning/search/point_front.h"

#include <algorithm>
#include <utility>

namespace pareto::search {
namespace {

// Latency times window does not fit into 64 bits.
__extension__ using Wide = __int128;

/// Returns whether a's throughput is at least b's.
bool as_fast(const PointFront::Entry& a, const PointFront::Entry& b) {
  return Wide{a.window} * b.latency >= Wide{b.window} * a.latency;
}

/// Returns whether a point stands before another in the result. What is as good as a point never
/// stands behind it, unless they are equal.
bool stands_before(const PointFront::Entry& a, const PointFront::Entry& b) {
  if (a.latency != b.latency) return a.latency < b.latency;
  if (a.window != b.window) return a.window > b.window;
  return a.also < b.also;
}

}  // namespace

bool PointFront::as_good(const Entry& a, const Entry& b) const {
  if (a.latency > b.latency) return false;
  for (std::size_t i = 0; i < also_.size(); ++i) {
    if (a.also[i] > b.also[i]) return false;
  }
  return as_fast(a, b);
}

PointFront::Entry PointFront::entry_at(std::int64_t latency, std::int64_t window,
                                       const planning::Values& also, std::size_t witness) const {
  Entry entry{latency, window, also, witness};
  const planning::OperatingPoint point{Nanoseconds(latency), static_cast<int>(window)};
  for (std::size_t i = 0; i < also_.size(); ++i) {
    entry.also[i] = planning::value_at(*also_[i], also[i], point);
  }
  return entry;
}

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
    if (!covers_point(entry_at(response, window, criteria.also, 0))) return false;
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

bool PointFront::add(planning::OperatingPoint point, const planning::Values& also,
                     std::size_t witness) {
  return add_point(entry_at(point.latency.count(), point.window, also, witness));
}

bool PointFront::add(const Criteria& criteria, std::size_t witness) {
  bool kept = false;
  for (const std::int64_t window : windows_of(criteria)) {
    const std::int64_t response = std::max(criteria.latency, window * criteria.bottleneck);
    kept = add_point(entry_at(response, window, criteria.also, witness)) || kept;
  }
  return kept;
}

planning::Values also_of(const planning::Evaluation& evaluation, const AlsoObjectives& also) {
  planning::Values values{};
  for (std::size_t i = 0; i < also.size(); ++i) values[i] = evaluation.value(*also[i]);
  return values;
}

planning::Values also_at(const planning::Evaluation& evaluation, const AlsoObjectives& also,
                         const planning::OperatingPoint& point) {
  planning::Values values{};
  for (std::size_t i = 0; i < also.size(); ++i) {
    values[i] = planning::value_at(*also[i], evaluation.value(*also[i]), point);
  }
  return values;
}

Expected<std::vector<FrontPoint>> with_placements(const PointFront& front,
                                                  std::span<const planning::Placement> witnesses,
                                                  const planning::CostInputs& inputs,
                                                  const SearchOptions& options) {
  std::vector<FrontPoint> points;
  for (const PointFront::Entry& entry : front.entries()) {
    const planning::Placement& placement = witnesses[entry.witness];
    PARETO_ASSIGN(const planning::Evaluation evaluation, planning::evaluate(inputs, placement));
    const int window = static_cast<int>(entry.window);
    const planning::OperatingPoint point = planning::at_window(evaluation, window);
    const planning::Values also = also_at(evaluation, options.also, point);
    if (point.latency.count() != entry.latency || also != entry.also) {
      return fail(ErrorCode::kInternal, "a placement found at {} ns takes {} ns", entry.latency,
                  point.latency.count());
    }
    points.push_back({point, also, placement, evaluation});
  }
  return points;
}

Expected<> check_search(const planning::CostInputs& inputs, const SearchOptions& options) {
  PARETO_TRY(check(inputs));
  const planning::WindowRange& windows = options.windows;
  if (windows.least < 1 || windows.most < windows.least ||
      windows.most > planning::kLargestSearchedWindow) {
    return fail(ErrorCode::kInvalidArgument, "windows from {} to {}", windows.least, windows.most);
  }
  for (std::size_t i = 0; i < options.also.size(); ++i) {
    const planning::Objective* const one = options.also[i];
    const auto earlier = options.also.begin() + static_cast<std::ptrdiff_t>(i);
    if (!one->searched || std::find(options.also.begin(), earlier, one) != earlier) {
      return fail(ErrorCode::kInvalidArgument, "plans are not searched by {}, or it stands twice",
                  one->name);
    }
  }
  return {};
}

void add_placement(const planning::CostInputs& inputs, const SearchOptions& options,
                   planning::Placement placement, PointFront& front,
                   std::vector<planning::Placement>& witnesses) {
  const auto evaluation = planning::evaluate(inputs, placement);
  if (!evaluation) return;
  const planning::Values also = also_of(*evaluation, options.also);
  bool kept = false;
  for (const planning::OperatingPoint& point :
       planning::operating_points(*evaluation, options.windows)) {
    kept = front.add(point, also, witnesses.size()) || kept;
  }
  if (kept) witnesses.push_back(std::move(placement));
}

void add_lone_devices(const planning::CostInputs& inputs, const SearchOptions& options,
                      PointFront& front, std::vector<planning::Placement>& witnesses) {
  const int coordinator = inputs.coordinator();
  for (int device = 0; device < coordinator; ++device) {
    for (int there = 0; there < planning::codec_count(inputs.link(coordinator, device)); ++there) {
      for (int back = 0; back < planning::codec_count(inputs.link(device, coordinator)); ++back) {
        add_placement(inputs, options, {{{device, 0, inputs.positions()}}, {there, back}}, front,
                      witnesses);
      }
    }
  }
}

}  // namespace pareto::search
