#include "partitioner/planning/simulation/wire.h"

#include <algorithm>
#include <cmath>

#include "core/plan/jitter_shape.h"
#include "partitioner/planning/simulation/draws.h"

namespace pareto::simulation {
namespace {

constexpr std::uint64_t kJitterDraws = 64;
/// The number of deviations before the last packet at which a packet cannot be the latest any more.
constexpr double kWidestJitter = 8;

double bytes_per_ns(std::uint64_t bits_per_second) {
  return static_cast<double>(bits_per_second) / 8e9;
}

std::uint64_t packets_of(std::uint64_t bytes) {
  return std::max<std::uint64_t>(1, (bytes + kPacketBytes - 1) / kPacketBytes);
}

/// Returns how many of `packets` are lost, drawing purposes from `purpose` on; at most `draws` of
/// them.
std::uint64_t lost_of(std::uint64_t packets, double loss, std::uint64_t key, std::uint64_t number,
                      std::uint64_t purpose, std::uint64_t draws) {
  const double mean = static_cast<double>(packets) * loss;
  if (mean > static_cast<double>(draws) / 4) {
    const double deviate = normal_quantile(uniform_of(random_bits(key, number, purpose)));
    const double lost = std::round(mean + deviate * std::sqrt(mean * (1 - loss)));
    return static_cast<std::uint64_t>(std::clamp(lost, 0.0, static_cast<double>(packets)));
  }
  // From one lost packet to the next it is geometric.
  const double scale = 1 / std::log1p(-loss);
  std::uint64_t lost = 0;
  double place = 0;
  for (; lost < draws; ++lost) {
    const double bits = uniform_of(random_bits(key, number, purpose + lost));
    place += 1 + std::floor(std::log(bits) * scale);
    if (place > static_cast<double>(packets)) break;
  }
  return lost;
}

}  // namespace

std::uint64_t bytes_with_packet_headers(std::uint64_t bytes) {
  constexpr std::uint64_t kPayload = kPacketBytes - kPacketHeaderBytes;
  return bytes + std::max<std::uint64_t>(1, (bytes + kPayload - 1) / kPayload) * kPacketHeaderBytes;
}

std::uint64_t bytes_without_packet_headers(std::uint64_t wire_bytes) {
  return wire_bytes - std::min(wire_bytes, packets_of(wire_bytes) * kPacketHeaderBytes);
}

int connection_places(std::uint64_t message_bytes, std::uint64_t buffer_bytes) {
  constexpr std::uint64_t kMost = 1024;
  return static_cast<int>(std::clamp<std::uint64_t>(
      buffer_bytes / std::max<std::uint64_t>(message_bytes, 1), 1, kMost));
}

Wire::Wire(const plan::LinkDirection& direction)
    : period_(direction.trace_period.count()), jitter_(direction.jitter), loss_(direction.loss) {
  Step step{0, bytes_per_ns(direction.bits_per_second), direction.delay.count()};
  steps_.push_back(step);
  for (const plan::ConditionChange& change : direction.trace) {
    step.at = change.at.count();
    if (change.bits_per_second) step.bytes_per_ns = bytes_per_ns(*change.bits_per_second);
    if (change.delay) step.delay = change.delay->count();
    if (steps_.back().at == step.at) steps_.pop_back();
    steps_.push_back(step);
  }
}

std::size_t Wire::step_at(std::int64_t time) const {
  if (steps_.size() == 1) return 0;
  if (period_ > 0) time %= period_;
  const auto after = std::ranges::upper_bound(steps_, time, {}, &Step::at);
  return static_cast<std::size_t>(after - steps_.begin()) - 1;
}

std::int64_t Wire::end_of(std::size_t step, std::int64_t time) const {
  const bool last = step + 1 == steps_.size();
  if (period_ == 0) return last ? INT64_MAX : steps_[step + 1].at;
  return time - time % period_ + (last ? period_ : steps_[step + 1].at);
}

std::int64_t Wire::pass(std::int64_t begin, double bytes, std::int64_t shift) const {
  std::int64_t time = begin + shift;
  for (;;) {
    const std::size_t step = step_at(time);
    const double rate = steps_[step].bytes_per_ns;
    if (rate == 0) return time - shift;
    const double needed = bytes / rate;
    const std::int64_t end = end_of(step, time);
    if (end == INT64_MAX || needed <= static_cast<double>(end - time)) {
      return time + static_cast<std::int64_t>(std::llround(needed)) - shift;
    }
    bytes -= static_cast<double>(end - time) * rate;
    time = end;
  }
}

std::int64_t Wire::latest_jitter(std::uint64_t bytes, double bytes_per_ns, std::uint64_t key,
                                 std::uint64_t number, std::uint64_t purpose) const {
  const double deviation = to_nanoseconds(jitter_.deviation);
  const double spacing = bytes_per_ns > 0 ? static_cast<double>(kPacketBytes) / bytes_per_ns : 0.0;
  const std::uint64_t packets = std::min(packets_of(bytes), kJitterDraws);
  double latest = -kWidestJitter * deviation;
  for (std::uint64_t back = 0; back < packets; ++back) {
    const double before = static_cast<double>(back) * spacing;
    if (before > kWidestJitter * deviation + latest) break;
    const double deviate = normal_quantile(uniform_of(random_bits(key, number, purpose + back)));
    latest = std::max(latest, deviation * shaped_deviate(jitter_.shape, deviate) - before);
  }
  return std::llround(latest);
}

Fate Wire::carry(std::int64_t begin, std::int64_t occupancy, std::uint64_t bytes,
                 std::int64_t shift, std::uint64_t key, std::uint64_t number,
                 std::uint64_t purpose) const {
  std::int64_t done = begin + occupancy;
  const bool has_rate = steps_.size() > 1 || steps_[0].bytes_per_ns > 0;
  if (has_rate) done = pass(done, static_cast<double>(bytes), shift);
  const Step& step = steps_[step_at(done + shift)];
  std::int64_t late = 0;
  if (loss_ > 0) {
    constexpr std::uint64_t kLossDraws = 256;
    constexpr std::uint64_t kRounds = kPurposes / kLossDraws - 1;
    std::uint64_t missing = packets_of(bytes);
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      missing = lost_of(missing, loss_, key, number, purpose + round * kLossDraws, kLossDraws);
      if (missing == 0) break;
      if (has_rate) done = pass(done, static_cast<double>(missing * kPacketBytes), shift);
      late += 2 * step.delay;
    }
  }
  if (jitter_.deviation.count() > 0) {
    late += latest_jitter(bytes, step.bytes_per_ns, key, number, purpose);
  }
  return {done, done + std::max<std::int64_t>(0, step.delay + late)};
}

}  // namespace pareto::simulation
