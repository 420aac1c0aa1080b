// Counts what stages do while they do it, for status and metrics. Counts of stages that ended are
// kept as sums.
//
//   Stage --counts into--> StageMeter, at a StagePlace --StageMeters::read()--> sums of all
#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/duration_histogram.h"
#include "core/base/thread_pool.h"

namespace pareto::daemon {

/// Place at which a stage counts.
struct StagePlace {
  std::uint32_t stage = 0;  ///< its number in its pipeline
  std::uint32_t slot = 0;   ///< tells stages of one number apart that are open together
  auto operator<=>(const StagePlace&) const = default;
};

/// Times that the workers of a schedule have computed. Threads: any; no call waits.
class WorkerMeter {
 public:
  /// Adds the times of one run, by worker. A pool has no more threads than are counted.
  void add(const std::vector<Nanoseconds>& times);
  /// Returns the sums, by worker; empty if there was none.
  std::vector<Nanoseconds> read() const;

 private:
  std::array<std::atomic<Nanoseconds::rep>, ThreadPool::kMostParts> sums_{};
  std::atomic<std::size_t> seen_{0};  ///< most workers of a run
};

/// Counts of one stage. Threads: any; no call waits.
struct StageMeter {
  StagePlace place;                        ///< set when the stage opens
  std::atomic<std::uint64_t> requests{0};  ///< requests that came
  std::atomic<std::uint64_t> answered{0};  ///< requests whose results were sent on
  std::atomic<std::uint64_t> failed{0};    ///< requests that failed here, dropped ones included
  /// Requests that were not computed because their deadline had passed.
  std::atomic<std::uint64_t> dropped{0};
  /// Requests that came and have not left, neither as results nor as errors.
  std::atomic<std::uint64_t> in_flight{0};
  std::atomic<std::uint64_t> bytes_received{0};  ///< bytes of requests' frames, headers included
  std::atomic<std::uint64_t> bytes_sent{0};
  std::atomic<Nanoseconds::rep> receiving{0};  ///< time in which requests came in, in ns
  std::atomic<Nanoseconds::rep> sending{0};    ///< time until the link had taken it, in ns
  /// Round trip of the link to the next stage, in ns; 0 means unknown.
  std::atomic<Nanoseconds::rep> round_trip{0};
  std::atomic<std::uint64_t> link_bytes_per_second{0};  ///< 0 means unknown
  /// Computing time of a request, in ns; 0 means unknown.
  std::atomic<Nanoseconds::rep> profiled_compute{0};
  std::atomic<std::uint64_t> silent_links{0};  ///< links whose peers showed no life
  std::atomic<bool> broken{false};             ///< the stage ended by a failure
  std::atomic<bool> ended{false};
  DurationHistogram wait;  ///< time that requests waited to be computed
  /// The part of it in which nothing else of this stage was computed, for a turn of the device.
  DurationHistogram turn_wait;
  DurationHistogram compute;
  WorkerMeter workers;
};

/// Counts read at one place.
struct MeterReading {
  StagePlace place;
  // Sums over all stages that were ever there:
  std::uint64_t answered = 0;
  std::uint64_t failed = 0;
  std::uint64_t dropped = 0;
  std::uint64_t broken_stages = 0;
  std::uint64_t silent_links = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  DurationCounts wait;
  DurationCounts turn_wait;
  DurationCounts compute;
  std::vector<Nanoseconds> workers;  ///< time that each worker has computed; see WorkerMeter
  // Values of the stages that are there now:
  std::uint64_t in_flight = 0;
  std::optional<Nanoseconds> round_trip;
  std::optional<std::uint64_t> link_bytes_per_second;
  std::optional<Nanoseconds> profiled_compute;
};

/// The meters of all stages of a device. A stage that opens takes the first free slot among the
/// stages of its number, and adds to the sums of stages that had that slot. So sums only grow.
/// A number has at most as many slots as stages of it were ever open together.
///
/// Threads: any.
class StageMeters {
 public:
  /// Most places. Stages beyond that number share one.
  static constexpr std::size_t kMostPlaces = 256;

  static constexpr StagePlace kShared{UINT32_MAX, UINT32_MAX};

  /// Returns a meter for a stage of that number. Its place is taken until nobody holds the meter.
  std::shared_ptr<StageMeter> open(std::uint32_t stage);
  /// Returns the counts at all places, in order.
  std::vector<MeterReading> read() const;

 private:
  struct Entry {
    MeterReading past;  ///< sums of stages that are gone
    std::vector<const StageMeter*> present;
  };
  struct State {
    mutable std::mutex mutex;
    std::map<StagePlace, Entry> entries;
  };
  static void leave(State& state, const StagePlace& place, const StageMeter* meter);
  static StagePlace free_place(const State& state, std::uint32_t stage);

  // Shared with the meters, which may outlive this object.
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace pareto::daemon
