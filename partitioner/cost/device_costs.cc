#include "partitioner/cost/device_costs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace pareto::partitioner {
namespace {

/// A position whose two sides were measured, in ns.
struct Known {
  std::int64_t position = 0;
  double before = 0;  ///< T(0,c)
  double after = 0;   ///< T(c,N)
};

/// What was measured of shards, in ns.
class Shards {
 public:
  Shards(const DeviceProfile& profile, Nanoseconds ShardTime::*time)
      : operators_(static_cast<std::int64_t>(profile.operators.size())) {
    for (const ShardTime& shard : profile.shards) {
      times_[{shard.begin, shard.end}] = static_cast<double>((shard.*time).count());
    }
  }

  double whole() const { return times_.at({0, operators_}); }

  /// By position, strictly inside the model.
  std::vector<Known> known() const {
    std::vector<Known> known;
    for (const auto& [range, time] : times_) {
      const auto rest = times_.find({range.second, operators_});
      if (range.first == 0 && rest != times_.end()) {
        known.push_back({range.second, time, rest->second});
      }
    }
    return known;
  }

 private:
  const std::int64_t operators_;
  std::map<std::pair<std::int64_t, std::int64_t>, double> times_;
};

/// What all operators take as the sum of the two sides of a cut where entering costs least.
double least_sum(const std::vector<Known>& known, double whole) {
  if (known.empty()) return whole;
  std::vector<double> sums;
  for (const Known& cut : known) sums.push_back(cut.before + cut.after);
  const auto quartile = sums.begin() + static_cast<std::ptrdiff_t>(sums.size() / 4);
  std::ranges::nth_element(sums, quartile);
  return std::min(whole, *quartile);
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
    before.push_back(before.back() + static_cast<double>(time.count()));
  }
  return before;
}

Nanoseconds rounded(double nanoseconds) {
  return Nanoseconds(std::llround(std::max(nanoseconds, 0.0)));
}

/// At `positions`, without overhead.
StageCosts stage_costs(const Shards& shards, const std::vector<double>& plain,
                       const std::vector<std::int64_t>& positions) {
  const std::int64_t operators = positions.back();
  std::vector<Known> known = shards.known();
  const double all = least_sum(known, shards.whole());
  known.insert(known.begin(), {0, 0, all});
  known.push_back({operators, all, 0});
  make_ascend(known);
  const auto enter = [all = known.back().before](const Known& at) {
    return at.before + at.after - all;
  };

  StageCosts costs;
  costs.whole = rounded(shards.whole());
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
  const std::vector<double> plain = plain_times_before(profile);
  DeviceCosts costs;
  costs.name = profile.device;
  static_cast<StageCosts&>(costs) =
      stage_costs(Shards(profile, &ShardTime::alone), plain, positions);
  costs.overhead = profile.overhead;
  *costs.whole += profile.overhead;
  costs.busy = stage_costs(Shards(profile, &ShardTime::busy), plain, positions);
  return costs;
}

}  // namespace pareto::partitioner
