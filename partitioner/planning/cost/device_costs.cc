#include "partitioner/planning/cost/device_costs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace pareto::planning {
namespace {

/// The known times of both sides of a position strictly inside the model, in ns.
struct Known {
  std::int64_t position = 0;
  double before = 0;  ///< T(0,c)
  double after = 0;   ///< T(c,N)
};

/// The measured times of shards that begin or end the model, in ns.
struct Measured {
  struct Sides {
    std::optional<double> before;
    std::optional<double> after;
  };
  std::optional<double> whole;
  std::map<std::int64_t, Sides> cuts;  ///< sides of each position; at least one is known
};

Measured measured_of(const plan::DeviceProfile& profile, Nanoseconds plan::ShardTime::*time) {
  const auto operators = static_cast<std::int64_t>(profile.operators.size());
  Measured measured;
  for (const plan::ShardTime& shard : profile.shards) {
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

/// Returns T' in proportion to the plain engine's times of operators before each position.
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

/// Conditions under which the whole model was measured. It may stand for what its parts add up to
/// only if it was measured as they were.
enum class Whole { kAsParts, kUndisturbed };

/// Returns T': what all operators take as the sum of the two sides of a cut where entering costs
/// least.
double least_sum(const Measured& measured, const std::vector<double>& plain, Whole whole) {
  std::vector<double> sums;
  for (const auto& [position, sides] : measured.cuts) {
    if (sides.before && sides.after) sums.push_back(*sides.before + *sides.after);
  }
  if (sums.empty()) return measured.whole ? *measured.whole : in_proportion(measured, plain);
  const auto quartile = sums.begin() + static_cast<std::ptrdiff_t>(sums.size() / 4);
  std::ranges::nth_element(sums, quartile);
  const bool stands = measured.whole && whole == Whole::kAsParts;
  return stands ? std::min(*measured.whole, *quartile) : *quartile;
}

/// Returns the value nearest to a position, or 0 if there is none.
double nearest(const std::map<std::int64_t, double>& values, std::int64_t position) {
  if (values.empty()) return 0;
  const auto next = values.lower_bound(position);
  if (next == values.begin()) return next->second;
  const auto last = std::prev(next);
  const bool is_last = next == values.end() || position - last->first < next->first - position;
  return is_last ? last->second : next->second;
}

/// Returns the known cuts by position. A side that was not measured is what is left of `all`.
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

double median(std::vector<double> values) {
  const std::size_t half = values.size() / 2;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(half));
  if (values.size() % 2 == 1) return values[half];
  return (values[half] +
          *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half))) /
         2;
}

/// Returns the sequence that does not descend and is off by least all in all (pool adjacent
/// violators, with medians). One value that a disturbance made far too large does not move its
/// neighbours.
std::vector<double> ascending(const std::vector<double>& values) {
  struct Pool {
    std::vector<double> values;
    double median;
  };
  std::vector<Pool> pools;
  for (const double value : values) {
    pools.push_back({{value}, value});
    while (pools.size() > 1 && pools[pools.size() - 2].median > pools.back().median) {
      std::vector<double> joined = std::move(pools.back().values);
      pools.pop_back();
      joined.insert(joined.end(), pools.back().values.begin(), pools.back().values.end());
      const double middle = median(joined);
      pools.back() = {std::move(joined), middle};
    }
  }
  std::vector<double> result;
  for (const Pool& pool : pools) result.insert(result.end(), pool.values.size(), pool.median);
  return result;
}

/// Makes what runs before a later position take no less, and what runs after it no more.
void smooth(std::vector<Known>& known) {
  std::vector<double> before;
  std::vector<double> after;
  for (const Known& one : known) before.push_back(one.before);
  // From the end. All operators are left out: they may take less than what is after the first cut.
  for (std::size_t i = known.size(); i-- > 1;) after.push_back(known[i].after);
  before = ascending(before);
  after = ascending(after);
  for (std::size_t i = 0; i < known.size(); ++i) {
    known[i].before = before[i];
    if (i > 0) known[i].after = after[known.size() - 1 - i];
  }
}

/// Returns the plain engine's times of the operators before each position, in ns.
std::vector<double> plain_times_before(const plan::DeviceProfile& profile) {
  std::vector<double> before{0};
  for (const Nanoseconds time : profile.operators) {
    before.push_back(before.back() + to_nanoseconds(time));
  }
  return before;
}

Nanoseconds rounded(double nanoseconds) { return from_nanoseconds(std::max(nanoseconds, 0.0)); }

/// Returns the costs at `positions`, without overhead.
StageCosts stage_costs(const Measured& measured, const std::vector<double>& plain,
                       const std::vector<std::int64_t>& positions, Whole whole) {
  const std::int64_t operators = positions.back();
  const double all = least_sum(measured, plain, whole);
  std::vector<Known> known = known_cuts(measured, all);
  known.insert(known.begin(), {0, 0, all});
  known.push_back({operators, all, 0});
  smooth(known);
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

Expected<DeviceCosts> device_costs(const plan::DeviceProfile& profile,
                                   const std::vector<std::int64_t>& positions) {
  const auto operators = static_cast<std::int64_t>(profile.operators.size());
  const bool ascend =
      std::ranges::adjacent_find(positions, std::ranges::greater_equal{}) == positions.end();
  if (positions.size() < 2 || positions.front() != 0 || positions.back() != operators || !ascend) {
    return fail(ErrorCode::kInvalidArgument, "positions have to ascend from 0 to {}", operators);
  }
  const Measured alone = measured_of(profile, &plan::ShardTime::alone);
  if (!alone.whole && alone.cuts.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "nothing was measured of {} that begins or ends {} operators", profile.device,
                operators);
  }
  const std::vector<double> plain = plain_times_before(profile);
  DeviceCosts costs;
  costs.name = profile.device;
  static_cast<StageCosts&>(costs) = stage_costs(alone, plain, positions, Whole::kAsParts);
  costs.overhead = profile.overhead;
  if (costs.whole) *costs.whole += profile.overhead;
  costs.busy = stage_costs(measured_of(profile, &plan::ShardTime::busy), plain, positions,
                           Whole::kUndisturbed);
  costs.jitter = profile.jitter;
  return costs;
}

}  // namespace pareto::planning
