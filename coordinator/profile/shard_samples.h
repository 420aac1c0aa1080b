// The samples of one device's shards while it is profiled, and the times that a profile says.
//
// A machine's speed changes from one moment to the next. So a shard's time is taken as a share of
// the yardstick's time around the same moment, and comes out as that share of the yardstick's
// median.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "coordinator/cluster/shard_pool.h"
#include "coordinator/profile/device_links.h"
#include "coordinator/profile/stage_meter.h"
#include "core/plan/device_profile.h"
#include "core/plan/operator_ranges.h"

namespace pareto::profile {

/// Samples of one device's shards, each with the yardstick's time at its moment.
///
/// Threads: one owner.
class ShardSamples {
 public:
  /// Notes what a shard sends and takes, each time that it was opened.
  void opened(const cluster::ResidentShard& shard);
  /// Adds the times of the yardstick, by requests one at a time.
  void add_lone_yardstick(const plan::OperatorRange& yardstick, const LoneTimes& times);
  /// Adds the times of the yardstick while all devices are busy.
  void add_busy_yardstick(const BusyTimes& times);
  /// Adds the yardstick's interval between results while its device has its machine to itself.
  void add_unshared_yardstick(Nanoseconds interval);
  /// Adds the times of a side of a cut. The yardstick was timed a moment earlier.
  void add_lone(const plan::OperatorRange& side, const LoneTimes& times);
  void add_busy(const plan::OperatorRange& side, Nanoseconds compute);

  /// Returns whether the shares of a shard agree well enough that another visit would tell little.
  bool is_settled(const plan::OperatorRange& side) const;
  /// Fills in the times of all shards but those too large, what every stage adds, and the jitter.
  void fill(const plan::OperatorRange& yardstick, const std::set<plan::OperatorRange>& too_large,
            const DeviceLinks& links, plan::DeviceProfile& profile) const;

 private:
  /// The time that a shard took, in ns, and the place of the yardstick's time that is the nearest.
  struct Visit {
    double taken = 0;
    std::size_t yardstick = 0;
  };
  struct Seen {
    std::vector<Visit> alone;
    std::vector<Visit> busy;
    std::vector<double> beyond;  ///< latency less computing, in ns
    StageTraffic traffic;
    std::uint64_t memory_bytes = 0;
  };
  static std::vector<double> shares_of(const std::vector<Visit>& visits,
                                       const std::vector<double>& yardsticks);

  std::map<plan::OperatorRange, Seen> seen_;
  // The yardstick's times, in ns.
  std::vector<double> lone_yardsticks_;
  std::vector<double> unshared_yardsticks_;
  std::vector<double> busy_yardsticks_;  ///< from one request to the next
  std::vector<double> busy_computes_;    ///< computing of one request
  std::vector<double> jitter_;           ///< factors under load, in order
};

}  // namespace pareto::profile
