// One device while it is profiled: which shards it has room for, and what each of them takes.
//
//   begin: yardstick, operators
//       ──▶ of each cut: take_up, lone_pair, then kTurns × (get_ready, busy) together with
//           the other devices ──▶ fill
//
// Where a device has room for the yardstick and both sides of a cut, they are open side by side.
// Where it has not, each is loaded when its turn comes, those that are not needed are closed for
// it, and it is measured alone before it is busy.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "coordinator/profile/device_links.h"
#include "coordinator/profile/device_profiler.h"
#include "coordinator/profile/stage_meter.h"
#include "core/plan/operator_ranges.h"

namespace pareto::profile {

/// Threads: one at a time.
class ProfileSubject {
 public:
  /// Turns of the busy phase of a cut: the yardstick, one side, the other one.
  static constexpr int kTurns = 3;

  /// Makes a subject; all arguments outlive it.
  ProfileSubject(const ProfileBench& bench, const ProfileWish& wish, cluster::DaemonClient& device,
                 DeviceLinks links)
      : bench_(bench), wish_(wish), device_(device), links_(std::move(links)) {}

  ProfileSubject(ProfileSubject&&) = default;

  /// Finds the yardstick, one that `known` has where there is room for it, and times each operator.
  /// Fails: kExhausted (no room for either end of the model), and as devices and links do.
  Expected<> begin(const std::optional<plan::DeviceProfile>& known);

  /// Measures the yardstick, and opens what has room next to it of the two sides of a cut. Fails:
  /// as devices and links do.
  Expected<> take_up(std::int64_t cut);
  /// The first side of the cut on one device in turn with the second on another, as in a pipeline
  /// of the two; one that is open alone is measured by itself. Fails: as devices and links do.
  static Expected<> lone_pair(ProfileSubject& first, ProfileSubject& second);
  /// Opens what the device does in a turn of that cut. Pipelines have the first stage on one device
  /// and the second on the other: `turned` begins with the side after the cut. A device without
  /// room for a side does the other one meanwhile, or else the yardstick, so that no device works
  /// alone. Fails: kExhausted (there is no room for the yardstick any more), and as take_up() does.
  Expected<> get_ready(int turn, bool turned);
  /// Does it for so long. Fails: as StageMeter::busy.
  Expected<> busy(Nanoseconds duration);
  /// Closes the sides after the last turn.
  void close_sides();

  /// Returns how long it has to be watched under load.
  Nanoseconds busy_time() const;
  /// Whether what was seen of both sides of a cut agrees well enough that another visit would tell
  /// little.
  bool is_settled(std::int64_t cut) const;
  /// Adds what was measured, and what was too large, to the profile.
  void fill(plan::DeviceProfile& profile) const;

 private:
  /// The time of one shard in ns, and which of the yardstick's times is the nearest.
  struct Visit {
    double taken = 0;
    std::size_t yardstick = 0;
  };
  /// The observations of one shard, one for each pass.
  struct Seen {
    std::vector<Visit> alone;
    std::vector<Visit> busy;
    std::vector<double> beyond;  ///< ns
    StageTraffic traffic;
    std::uint64_t memory_bytes = 0;
  };

  /// Loads a shard next to what is loaded and held. Null: there is no room.
  Expected<cluster::ShardLease> load_beside(const plan::OperatorRange& range);
  /// Loads a shard. Null: there is no room, although everything that is open was closed for it.
  Expected<cluster::ShardLease> load(const plan::OperatorRange& range);
  Expected<StageMeter*> open(const plan::OperatorRange& range);
  /// Opens a meter as open() does, with the room that it takes. Null: there is none.
  Expected<StageMeter*> meter(const plan::OperatorRange& range);

  Expected<> time_operators(const cluster::ResidentShard& shard);
  /// Shard by shard, between neighbouring cuts.
  Expected<> time_pieces();
  Expected<> find_yardstick(const std::optional<plan::DeviceProfile>& known);
  bool yardstick_is_whole() const { return yardstick_ == plan::OperatorRange{0, wish_.operators}; }
  /// Fails: kExhausted (there is no room for it any more).
  Expected<StageMeter*> yardstick_meter();

  /// Returns the model's, what the stage before the cut made of it, or noise.
  Expected<Value> request_for(const StageMeter& meter) const;
  Expected<> lone_yardstick();
  Expected<> lone_side(StageMeter& meter);
  /// Returns the meter of the present cut's side, 0 or 1; null: it is not open.
  StageMeter* open_side(std::size_t side) const;
  void saw(const StageMeter& meter, const LoneTimes& times);
  /// Returns a shard's times alone as shares of the yardstick's around each visit.
  std::vector<double> lone_shares(const Seen& seen) const;
  std::vector<double> busy_shares(const Seen& seen) const;

  std::array<plan::OperatorRange, 2> sides_of(std::int64_t cut) const {
    return {plan::OperatorRange{0, cut}, plan::OperatorRange{cut, wish_.operators}};
  }
  Seen& seen_of(const StageMeter& meter) { return seen_[{meter.shard().begin, meter.shard().end}]; }
  std::vector<Nanoseconds> operator_times() const;
  Expected<> no_time() const;
  /// Fails with all that is to be said of it.
  Expected<> no_room() const;

  const ProfileBench& bench_;
  const ProfileWish& wish_;
  cluster::DaemonClient& device_;
  const DeviceLinks links_;

  plan::OperatorRange yardstick_;
  std::map<std::int64_t, Nanoseconds> operators_;
  std::map<plan::OperatorRange, std::unique_ptr<StageMeter>> open_;
  std::set<plan::OperatorRange> too_large_;

  std::int64_t cut_ = 0;  ///< the present one
  /// Value sent across it; no value means that the side before was not run.
  std::optional<Value> crossing_;
  Nanoseconds last_yardstick_{};
  int turn_ = 0;
  StageMeter* ready_ = nullptr;  ///< meter for this turn
  int cuts_ = 0;

  std::vector<double> lone_yardsticks_;
  std::vector<double> unshared_yardsticks_;
  std::vector<double> busy_yardsticks_;  ///< time from one request to the next
  std::vector<double> busy_computes_;    ///< and what it computed of each
  std::vector<double> jitter_;           ///< jitter of the yardstick under load, in order
  std::map<plan::OperatorRange, Seen> seen_;
};

}  // namespace pareto::profile
