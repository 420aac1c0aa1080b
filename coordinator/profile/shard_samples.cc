#include "coordinator/profile/shard_samples.h"

#include <algorithm>
#include <cmath>

#include "coordinator/statistics/statistics.h"
#include "core/base/clock.h"

namespace pareto::profile {
namespace {

/// Yardsticks that count on each side of the nearest one.
constexpr std::ptrdiff_t kYardsticksAround = 2;
/// A standard error of a logarithm.
constexpr double kSettled = 0.025;

Nanoseconds rounded(double nanoseconds) { return from_nanoseconds(std::max(nanoseconds, 0.0)); }

/// Returns the error of the mean of the shares' logarithms; 0 for one share, of which nothing is
/// known.
double error_of(const std::vector<double>& shares) {
  if (shares.size() < 2) return 0;
  std::vector<double> logarithms;
  for (const double share : shares) logarithms.push_back(std::log(std::max(share, 1e-9)));
  const double middle = statistics::mean(logarithms);
  double squares = 0;
  for (const double one : logarithms) squares += (one - middle) * (one - middle);
  const auto count = static_cast<double>(logarithms.size());
  return std::sqrt(squares / (count - 1) / count);
}

}  // namespace

std::vector<double> ShardSamples::shares_of(const std::vector<Visit>& visits,
                                            const std::vector<double>& yardsticks) {
  std::vector<double> shares;
  for (const Visit& visit : visits) {
    const auto at = static_cast<std::ptrdiff_t>(visit.yardstick);
    const auto first = yardsticks.begin() + std::max<std::ptrdiff_t>(at - kYardsticksAround, 0);
    const auto last =
        yardsticks.begin() + std::min(at + kYardsticksAround + 1, std::ssize(yardsticks));
    shares.push_back(visit.taken / statistics::median({first, last}));
  }
  return shares;
}

void ShardSamples::opened(const cluster::ResidentShard& shard) {
  Seen& seen = seen_[{shard.begin, shard.end}];
  seen.traffic = {shard.input_bytes, shard.output_bytes};
  // A shard that is loaded again takes memory that the daemon has kept.
  seen.memory_bytes = std::max(seen.memory_bytes, shard.loaded.memory_bytes);
}

void ShardSamples::add_lone_yardstick(const plan::OperatorRange& yardstick,
                                      const LoneTimes& times) {
  lone_yardsticks_.push_back(to_nanoseconds(times.compute));
  seen_[yardstick].beyond.push_back(to_nanoseconds(times.beyond));
}

void ShardSamples::add_busy_yardstick(const BusyTimes& times) {
  busy_computes_.push_back(to_nanoseconds(times.compute));
  busy_yardsticks_.push_back(to_nanoseconds(times.interval));
  for (const double compute : times.computes) {
    if (jitter_.size() == plan::kMostJitterFactors) break;
    jitter_.push_back(std::max(compute, 1.0) / to_nanoseconds(times.compute));
  }
}

void ShardSamples::add_unshared_yardstick(Nanoseconds interval) {
  unshared_yardsticks_.push_back(to_nanoseconds(interval));
}

void ShardSamples::add_lone(const plan::OperatorRange& side, const LoneTimes& times) {
  Seen& seen = seen_[side];
  seen.alone.push_back({to_nanoseconds(times.compute), lone_yardsticks_.size() - 1});
  seen.beyond.push_back(to_nanoseconds(times.beyond));
}

void ShardSamples::add_busy(const plan::OperatorRange& side, Nanoseconds compute) {
  seen_[side].busy.push_back({to_nanoseconds(compute), busy_computes_.size() - 1});
}

bool ShardSamples::is_settled(const plan::OperatorRange& side) const {
  const auto seen = seen_.find(side);
  if (seen == seen_.end()) return true;
  return error_of(shares_of(seen->second.alone, lone_yardsticks_)) <= kSettled &&
         error_of(shares_of(seen->second.busy, busy_computes_)) <= kSettled;
}

void ShardSamples::fill(const plan::OperatorRange& yardstick,
                        const std::set<plan::OperatorRange>& too_large, const DeviceLinks& links,
                        plan::DeviceProfile& profile) const {
  const double alone = statistics::median(lone_yardsticks_);
  // Without a cut there was nothing to be busy with.
  const double busy = busy_yardsticks_.empty() ? alone : statistics::median(busy_yardsticks_);
  const double unshared =
      unshared_yardsticks_.empty() ? busy : statistics::median(unshared_yardsticks_);
  std::vector<double> overheads;
  for (const auto& [range, seen] : seen_) {
    for (const double beyond : seen.beyond) {
      overheads.push_back(beyond - to_nanoseconds(links.crossing(seen.traffic)));
    }
    const bool is_yardstick = range == yardstick;
    const bool was_measured = is_yardstick || !(seen.alone.empty() || seen.busy.empty());
    if (!was_measured || too_large.contains(range)) continue;
    const double lone_share =
        is_yardstick ? 1 : statistics::median(shares_of(seen.alone, lone_yardsticks_));
    const double interval =
        is_yardstick ? unshared : statistics::median(shares_of(seen.busy, busy_computes_)) * busy;
    plan::ShardTime& shard = profile.shards.emplace_back();
    shard.begin = range.begin;
    shard.end = range.end;
    shard.alone = rounded(lone_share * alone);
    shard.busy = rounded(interval - to_nanoseconds(links.processor(seen.traffic)));
    shard.memory_bytes = seen.memory_bytes;
    shard.output_bytes = seen.traffic.output_bytes;
  }
  profile.overhead = rounded(statistics::median(overheads));
  profile.jitter = jitter_;
}

}  // namespace pareto::profile
