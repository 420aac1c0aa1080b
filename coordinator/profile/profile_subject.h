// One device while it is profiled: which shards it has room for, and what each of them takes.
//
//   begin: yardstick, operators ──▶ for each cut: take_up, lone_pair,
//   then kTurns × (get_ready, busy) together with the other devices ──▶ fill
//
// If a device has room for the yardstick and both sides of a cut, they are open side by side. If
// not, each is loaded when its turn comes. Those that are not needed are closed for it, and it is
// measured by itself before it is busy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "coordinator/profile/device_links.h"
#include "coordinator/profile/device_profiler.h"
#include "coordinator/profile/shard_room.h"
#include "coordinator/profile/shard_samples.h"
#include "coordinator/profile/stage_meter.h"
#include "core/plan/operator_ranges.h"

namespace pareto::profile {

/// A device with the shards that are open there, and its samples.
///
/// Threads: one at a time.
class ProfileSubject {
 public:
  /// Turns of the busy phase of a cut: the yardstick, one side, the other one.
  static constexpr int kTurns = 3;

  /// The references outlive it.
  ProfileSubject(const ProfileBench& bench, const ProfileRequest& request,
                 cluster::DaemonClient& device, DeviceLinks links)
      : bench_(bench),
        request_(request),
        device_(device),
        links_(std::move(links)),
        room_(bench, request, device, links_.transport()) {}

  ProfileSubject(ProfileSubject&&) = default;

  /// Finds the yardstick, one that `known` has if there is room for it, and times each operator.
  /// Fails: kExhausted (no room for either end of the model), and as devices and links do.
  Expected<> begin(const std::optional<plan::DeviceProfile>& known);

  /// Measures the yardstick, and opens those sides of a cut that there is room for next to it.
  /// Fails: as devices and links do.
  Expected<> take_up(std::int64_t cut);
  /// Measures the first side of the cut on one device in turn with the second on another, as in a
  /// pipeline of the two. If only one of them is open, it is measured by itself. Fails: as devices
  /// and links do.
  static Expected<> lone_pair(ProfileSubject& first, ProfileSubject& second);
  /// Opens what the device does in a turn of that cut. Pipelines have the first stage on one device
  /// and the second on the other: `turned` begins with the side after the cut. A device without
  /// room for a side does the other one meanwhile, or else the yardstick, so that no device works
  /// alone.
  /// Fails: kExhausted (there is no room for the yardstick any more), and as take_up() does.
  Expected<> get_ready(int turn, bool turned);
  /// Does what get_ready() opened, for `duration`. Fails: as StageMeter::busy.
  Expected<> busy(Nanoseconds duration);
  /// Closes both sides, after the last turn.
  void close_sides();

  /// Returns how long it has to be watched under load.
  Nanoseconds busy_time() const;
  /// Returns whether the times of both sides of a cut agree well enough that another visit would
  /// tell little.
  bool is_settled(std::int64_t cut) const;
  /// Fills in what was measured, and what was too large.
  void fill(plan::DeviceProfile& profile) const;

 private:
  /// Opens a shard that is loaded, and notes what it takes.
  Expected<StageMeter*> open(const plan::OperatorRange& range);
  /// Returns the stage of a shard, opened if it was not; null: there is no room.
  Expected<StageMeter*> meter(const plan::OperatorRange& range);

  Expected<> time_operators(const cluster::ResidentShard& shard);
  /// Times operators shard by shard, between neighbouring cuts.
  Expected<> time_pieces();
  Expected<> find_yardstick(const std::optional<plan::DeviceProfile>& known);
  /// Returns the meter of the yardstick, which is opened if need be. Fails: kExhausted (there is no
  /// room for it any more).
  Expected<StageMeter*> yardstick_meter();

  /// Returns the model's request, what the stage before the cut made of it, or noise.
  Expected<Value> request_for(const StageMeter& meter) const;
  Expected<> lone_yardstick();
  Expected<> lone_side(StageMeter& meter);
  /// Returns the stage of a side, 0 or 1, of the present cut; null: it is not open.
  StageMeter* open_side(std::size_t side) const;
  /// Returns a time for each operator; those that were not timed have the mean of the others.
  std::vector<Nanoseconds> operator_times() const;

  const ProfileBench& bench_;
  const ProfileRequest& request_;
  cluster::DaemonClient& device_;
  const DeviceLinks links_;
  ShardRoom room_;
  ShardSamples samples_;

  plan::OperatorRange yardstick_;
  std::map<std::int64_t, Nanoseconds> operators_;

  std::int64_t cut_ = 0;           ///< the present one
  std::optional<Value> crossing_;  ///< the values sent across it; none if no side before was run
  Nanoseconds last_yardstick_{};
  int turn_ = 0;
  StageMeter* ready_ = nullptr;  ///< the stage of this turn
  int cuts_ = 0;
};

}  // namespace pareto::profile
