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

std::vector<Known> known_positions(const DeviceProfile& profile, std::int64_t operators) {
  std::map<std::pair<std::int64_t, std::int64_t>, double> times;
  for (const ShardTime& shard : profile.shards) {
    times[{shard.begin, shard.end}] = static_cast<double>(shard.median.count());
  }
  const double whole = times.at({0, operators});
  std::vector<Known> known{{0, 0, whole}};
  for (const auto& [range, time] : times) {
    const auto rest = times.find({range.second, operators});
    if (range.first == 0 && rest != times.end())
      known.push_back({range.second, time, rest->second});
  }
  known.push_back({operators, whole, 0});
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
    before.push_back(before.back() + static_cast<double>(time.count()));
  }
  return before;
}

Nanoseconds rounded(double nanoseconds) {
  return Nanoseconds(std::llround(std::max(nanoseconds, 0.0)));
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
  std::vector<Known> known = known_positions(profile, operators);
  make_ascend(known);
  const double whole = known.back().before;
  const auto enter = [&](const Known& at) { return at.before + at.after - whole; };
  const std::vector<double> plain = plain_times_before(profile);

  DeviceCosts costs;
  costs.name = profile.device;
  costs.overhead = profile.overhead;
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

}  // namespace pareto::partitioner
