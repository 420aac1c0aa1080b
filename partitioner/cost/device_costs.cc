#include "partitioner/cost/device_costs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace pareto::partitioner {
namespace {

/// What is known of both sides of a position strictly inside the model, in ns.
struct Known {
  std::int64_t position = 0;
  double before = 0;  ///< T(0,c)
  double after = 0;   ///< T(c,N)
};

/// What was measured of shards that begin or end the model, in ns.
struct Measured {
  struct Sides {
    std::optional<double> before;
    std::optional<double> after;
  };
  std::optional<double> whole;
  std::map<std::int64_t, Sides> cuts;  ///< by position; one side at least
};

Measured measured_of(const DeviceProfile& profile, Nanoseconds ShardTime::*time) {
  const auto operators = static_cast<std::int64_t>(profile.operators.size());
  Measured measured;
  for (const ShardTime& shard : profile.shards) {
    const auto taken = static_cast<double>((shard.*time).count());
    if (shard.begin == 0 && shard.end == operators) {
      measured.whole = taken;
    } else if (shard.begin == 0) {
      measured.cuts[shard.end].before = taken;
    } else if (shard.end == operators) {
      measured.cuts[shard.begin].after = taken;
    }
  }
  return measured;
}

/// T' in proportion to the plain engine's times of operators before each position.
double in_proportion(const Measured& measured, const std::vector<double>& plain) {
  double taken = 0;
  double taken_plain = 0;
  for (const auto& [position, sides] : measured.cuts) {
    const double before = plain[static_cast<std::size_t>(position)];
    taken += sides.before.value_or(0) + sides.after.value_or(0);
    taken_plain += sides.before ? before : 0;
    taken_plain += sides.after ? plain.back() - before : 0;
  }
  return taken_plain > 0 ? taken * plain.back() / taken_plain : taken;
}

/// T': what all operators take as the sum of the two sides of a cut where entering costs least.
double least_sum(const Measured& measured, const std::vector<double>& plain) {
  std::vector<double> sums;
  for (const auto& [position, sides] : measured.cuts) {
    if (sides.before && sides.after) sums.push_back(*sides.before + *sides.after);
  }
  if (sums.empty()) return measured.whole ? *measured.whole : in_proportion(measured, plain);
  const auto quartile = sums.begin() + static_cast<std::ptrdiff_t>(sums.size() / 4);
  std::ranges::nth_element(sums, quartile);
  return measured.whole ? std::min(*measured.whole, *quartile) : *quartile;
}

/// The value nearest to a position; 0 where there is none.
double nearest(const std::map<std::int64_t, double>& values, std::int64_t position) {
  if (values.empty()) return 0;
  const auto next = values.lower_bound(position);
  if (next == values.begin()) return next->second;
  const auto last = std::prev(next);
  const bool is_last = next == values.end() || position - last->first < next->first - position;
  return is_last ? last->second : next->second;
}

/// By position; sides that were not measured are what is left of `all`.
std::vector<Known> known_cuts(const Measured& measured, double all) {
  std::map<std::int64_t, double> entering;
  for (const auto& [position, sides] : measured.cuts) {
    if (sides.before && sides.after) entering[position] = *sides.before + *sides.after - all;
  }
  std::vector<Known> known;
  for (const auto& [position, sides] : measured.cuts) {
    const double both = all + nearest(entering, position);
    known.push_back({position,
                     sides.before ? *sides.before : std::clamp(both - *sides.after, 0.0, all),
                     sides.after ? *sides.after : std::max(both - *sides.before, 0.0)});
  }
  return known;
}

/// The nearest sequence that does not descend (pool adjacent violators).
void make_ascend(std::vector<Known>& known) {
  struct Pool {
    double sum;
    std::size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (const Known& one : known) {
    pools.push_back({one.before, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      pools[pools.size() - 2].sum += pools.back().sum;
      pools[pools.size() - 2].count += pools.back().count;
      pools.pop_back();
    }
  }
  std::size_t next = 0;
  for (const Pool& pool : pools) {
    for (std::size_t i = 0; i < pool.count; ++i) known[next++].before = pool.mean();
  }
}

/// Of the plain engine's operators, those before each position.
std::vector<double> plain_times_before(const DeviceProfile& profile) {
  std::vector<double> before{0};
  for (const Nanoseconds time : profile.operators) {
    before.push_back(before.back() + to_nanoseconds(time));
  }
  return before;
}

Nanoseconds rounded(double nanoseconds) { return from_nanoseconds(std::max(nanoseconds, 0.0)); }

/// At `positions`, without overhead.
StageCosts stage_costs(const Measured& measured, const std::vector<double>& plain,
                       const std::vector<std::int64_t>& positions) {
  const std::int64_t operators = positions.back();
  const double all = least_sum(measured, plain);
  std::vector<Known> known = known_cuts(measured, all);
  known.insert(known.begin(), {0, 0, all});
  known.push_back({operators, all, 0});
  make_ascend(known);
  const auto enter = [all = known.back().before](const Known& at) {
    return at.before + at.after - all;
  };

  StageCosts costs;
  if (measured.whole) costs.whole = rounded(*measured.whole);
  std::size_t next = 0;
  for (const std::int64_t position : positions) {
    while (known[next].position < position) ++next;
    const Known& right = known[next];
    if (right.position == position) {
      costs.compute.push_back(rounded(right.before));
      const bool inside = position > 0 && position < operators;
      costs.enter.push_back(inside ? rounded(enter(right)) : Nanoseconds(0));
      continue;
    }
    const Known& left = known[next - 1];
    const double from = plain[static_cast<std::size_t>(left.position)];
    const double to = plain[static_cast<std::size_t>(right.position)];
    const double at = plain[static_cast<std::size_t>(position)];
    const double part = to > from ? (at - from) / (to - from)
                                  : static_cast<double>(position - left.position) /
                                        static_cast<double>(right.position - left.position);
    costs.compute.push_back(rounded(left.before + part * (right.before - left.before)));
    // Nothing is entered at either end: what is known of the inner neighbour holds.
    const double entering = left.position == 0 ? enter(right)
                            : right.position == operators
                                ? enter(left)
                                : enter(left) + part * (enter(right) - enter(left));
    costs.enter.push_back(
        rounded(right.position == operators && left.position == 0 ? 0 : entering));
  }
  return costs;
}

}  // namespace

Expected<DeviceCosts> device_costs(const DeviceProfile& profile,
                                   const std::vector<std::int64_t>& positions) {
  const auto operators = static_cast<std::int64_t>(profile.operators.size());
  const bool ascend =
      std::ranges::adjacent_find(positions, std::ranges::greater_equal{}) == positions.end();
  if (positions.size() < 2 || positions.front() != 0 || positions.back() != operators || !ascend) {
    return fail(ErrorCode::kInvalidArgument, "positions have to ascend from 0 to {}", operators);
  }
  const Measured alone = measured_of(profile, &ShardTime::alone);
  if (!alone.whole && alone.cuts.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "nothing was measured of {} that begins or ends {} operators", profile.device,
                operators);
  }
  const std::vector<double> plain = plain_times_before(profile);
  DeviceCosts costs;
  costs.name = profile.device;
  static_cast<StageCosts&>(costs) = stage_costs(alone, plain, positions);
  costs.overhead = profile.overhead;
  if (costs.whole) *costs.whole += profile.overhead;
  costs.busy = stage_costs(measured_of(profile, &ShardTime::busy), plain, positions);
  costs.jitter = profile.jitter;
  return costs;
}

}  // namespace pareto::partitioner
