// The shards of one device that are open to be timed, within the room that the device has.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "coordinator/cluster/shard_pool.h"
#include "coordinator/profile/device_profiler.h"
#include "coordinator/profile/stage_meter.h"
#include "core/base/error.h"
#include "core/plan/operator_ranges.h"

namespace pareto::profile {

/// The shards that are loaded and held on one device.
///
/// Threads: one owner. Its constructor's references outlive it.
class ShardRoom {
 public:
  /// `transport`: the one that stages are measured over.
  ShardRoom(const ProfileBench& bench, const ProfileRequest& request, cluster::DaemonClient& device,
            std::string transport)
      : bench_(bench), request_(request), device_(device), transport_(std::move(transport)) {}

  /// Takes over what an earlier profile found too large.
  void take_over(const plan::DeviceProfile& known);

  /// Loads a shard next to all that is loaded and held. Returns null if there is no room. Fails: as
  /// ShardPool::acquire.
  Expected<cluster::ShardLease> load_beside(const plan::OperatorRange& range);
  /// Like load_beside(), but closes all that is open if that makes room. Returns null if there is
  /// none even so: the shard is too large from then on.
  Expected<cluster::ShardLease> load(const plan::OperatorRange& range);
  /// Opens a shard that is loaded. Fails: as StageMeter::open.
  Expected<StageMeter*> open(const plan::OperatorRange& range);
  /// Returns the stage of a shard that is open; null: it is not.
  StageMeter* find(const plan::OperatorRange& range) const;
  void close_all_but(const plan::OperatorRange& range);

  bool is_too_large(const plan::OperatorRange& range) const { return too_large_.contains(range); }
  const std::set<plan::OperatorRange>& too_large() const { return too_large_; }
  /// Fails with kExhausted: names the smallest of what was too large, and the remedy.
  Expected<> no_room() const;

 private:
  const ProfileBench& bench_;
  const ProfileRequest& request_;
  cluster::DaemonClient& device_;
  const std::string transport_;
  std::map<plan::OperatorRange, std::unique_ptr<StageMeter>> open_;
  std::set<plan::OperatorRange> too_large_;
};

}  // namespace pareto::profile
