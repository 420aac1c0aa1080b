#include "coordinator/failover/link_tracker.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pareto::failover {
namespace {

using transport::ProbePoint;
using transport::ProbeResult;

/// Smaller messages pass a link at once, however slow it is: buffers and the buckets of emulators
/// take them.
constexpr std::uint64_t kSmallestReadBytes = 32 << 10;
/// A smaller change of a link is no reason to plan again: predictions are not more exact.
constexpr double kNoticeable = 0.15;
/// Readings may differ from each other by chance; a change is this many times as large.
constexpr double kSpreads = 2;
/// A link is at most this many times as slow or as fast as it was.
constexpr double kMostScale = 10'000;

/// Returns the time between messages of that size that follow each other, as probed: points are
/// interpolated, and go on in proportion beyond them.
double interval_ns(const ProbeResult& link, std::uint64_t bytes) {
  const auto& points = link.points;
  const auto above =
      std::ranges::find_if(points, [&](const ProbePoint& point) { return point.bytes >= bytes; });
  const auto size = static_cast<double>(bytes);
  if (above == points.begin() || above == points.end()) {
    const ProbePoint& edge = above == points.end() ? points.back() : points.front();
    return to_nanoseconds(edge.interval) * size /
           static_cast<double>(std::max<std::uint64_t>(edge.bytes, 1));
  }
  const ProbePoint& low = *std::prev(above);
  const double share = (size - static_cast<double>(low.bytes)) /
                       static_cast<double>(std::max<std::uint64_t>(above->bytes - low.bytes, 1));
  return to_nanoseconds(low.interval) +
         share * (to_nanoseconds(above->interval) - to_nanoseconds(low.interval));
}

double quantile(const std::vector<double>& sorted, double q) {
  return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
}

bool is_noticeable(double before, double after, double spread) {
  const double least = std::max(kNoticeable, kSpreads * spread);
  return std::abs(std::log(after / before)) > std::log1p(least);
}

}  // namespace

LinkTracker::LinkTracker(std::vector<planning::ProbedTransport> probed)
    : probed_([&] {
        for (planning::ProbedTransport& one : probed) {
          for (auto& row : one.links) {
            for (ProbeResult& link : row) std::ranges::sort(link.points, {}, &ProbePoint::bytes);
          }
        }
        return std::move(probed);
      }()) {
  for (const planning::ProbedTransport& one : probed_) {
    for (std::size_t from = 0; from < one.links.size(); ++from) {
      for (std::size_t to = 0; to < one.links.size(); ++to) {
        if (!one.links[from][to].points.empty()) states_.push_back({{one.name, from, to}});
      }
    }
  }
}

LinkTracker::State* LinkTracker::find(const LinkWay& way) {
  const auto found = std::ranges::find(states_, way, &State::way);
  return found == states_.end() ? nullptr : &*found;
}

const ProbeResult& LinkTracker::probed(const LinkWay& way) const {
  const auto found = std::ranges::find(probed_, way.transport, &planning::ProbedTransport::name);
  return found->links[way.from][way.to];
}

Heard LinkTracker::read(const LinkWay& way, const std::vector<LinkReading>& readings) {
  State* const state = find(way);
  if (state == nullptr || readings.size() < kFewestReadings) return Heard::kNothing;
  std::vector<double> scales;
  std::size_t waited_for = 0;
  for (const LinkReading& reading : readings) {
    if (reading.bytes < kSmallestReadBytes || reading.time <= Nanoseconds(0)) {
      return Heard::kNothing;
    }
    scales.push_back(to_nanoseconds(reading.time) /
                     std::max(interval_ns(probed(way), reading.bytes), 1.0));
    waited_for += reading.waited_for ? 1 : 0;
  }
  std::ranges::sort(scales);
  const double middle = std::clamp(quantile(scales, 0.5), 1 / kMostScale, kMostScale);
  state->spread = (quantile(scales, 0.75) - quantile(scales, 0.25)) / middle;
  // Messages that waited for the receiver say nothing of how fast the link is.
  if (middle < state->scale && 2 * waited_for < readings.size()) return Heard::kNothing;
  state->slower.reset();
  if (!is_noticeable(state->scale, middle, state->spread)) return Heard::kSame;
  state->scale = middle;
  return Heard::kChanged;
}

double LinkTracker::scale_of(const LinkWay& way, const ProbePoint& point) const {
  return std::clamp(
      to_nanoseconds(point.interval) / std::max(interval_ns(probed(way), point.bytes), 1.0),
      1 / kMostScale, kMostScale);
}

bool LinkTracker::probe(const LinkWay& way, const ProbeResult& result) {
  State* const state = find(way);
  if (state == nullptr || result.points.empty()) return false;
  ProbePoint point = *std::ranges::max_element(result.points, {}, &ProbePoint::bytes);
  Nanoseconds round_trip = result.round_trip;
  const auto more_delay = [&] { return (round_trip - probed(way).round_trip) / 2; };
  const auto is_other_delay = [&] {
    return std::chrono::abs(more_delay() - state->more_delay) >
           from_nanoseconds(kNoticeable * to_nanoseconds(point.crossing));
  };
  if (const auto before = std::exchange(state->slower, std::nullopt)) {
    const ProbePoint& other = *std::ranges::max_element(before->points, {}, &ProbePoint::bytes);
    point.interval = std::min(point.interval, other.interval);
    point.crossing = std::min(point.crossing, other.crossing);
    round_trip = std::min(round_trip, before->round_trip);
  } else {
    const double seen = scale_of(way, point);
    const bool is_slower = seen > state->scale && is_noticeable(state->scale, seen, 0);
    if (is_slower || (is_other_delay() && more_delay() > state->more_delay)) {
      state->slower = result;
      return false;
    }
  }
  const double scale = scale_of(way, point);
  state->spread = 0;
  if (!is_noticeable(state->scale, scale, 0) && !is_other_delay()) return false;
  state->scale = scale;
  state->more_delay = more_delay();
  return true;
}

bool LinkTracker::wants_another_probe(const LinkWay& way) const {
  const auto found = std::ranges::find(states_, way, &State::way);
  return found != states_.end() && found->slower.has_value();
}

std::vector<LinkWay> LinkTracker::ways() const {
  std::vector<LinkWay> all;
  for (const State& state : states_) all.push_back(state.way);
  return all;
}

bool LinkTracker::knows(const LinkWay& way) const {
  return std::ranges::find(states_, way, &State::way) != states_.end();
}

std::vector<planning::ProbedTransport> LinkTracker::links() const {
  std::vector<planning::ProbedTransport> links = probed_;
  for (const State& state : states_) {
    const auto found =
        std::ranges::find(links, state.way.transport, &planning::ProbedTransport::name);
    ProbeResult& link = found->links[state.way.from][state.way.to];
    link.round_trip = std::max(link.round_trip + 2 * state.more_delay, Nanoseconds(1));
    for (ProbePoint& point : link.points) {
      const Nanoseconds probed = point.interval;
      point.interval = std::max({from_nanoseconds(state.scale * to_nanoseconds(probed)),
                                 point.send_cpu, point.receive_cpu});
      point.crossing =
          std::max(point.crossing + point.interval - probed + state.more_delay, Nanoseconds(1));
    }
  }
  return links;
}

double LinkTracker::spread() const {
  double most = 0;
  for (const State& state : states_) most = std::max(most, state.spread);
  return most;
}

double LinkTracker::slowness(const LinkWay& way) const {
  const auto found = std::ranges::find(states_, way, &State::way);
  return found == states_.end() ? 1 : found->scale;
}

}  // namespace pareto::failover
