// What stages have done, counted as they do it, for status and metrics. Counts of stages that ended are kept as sums.
//
//   Stage --counts into--> StageMeter, at a StagePlace of StageMeters --read()--> sums of all that were ever there
#pragma once

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

namespace pareto::daemon {

/// Where a stage counts.
struct StagePlace {
  std::uint32_t stage = 0;  ///< its number in its pipeline
  std::uint32_t slot = 0;   ///< tells stages of one number apart that are open at the same time
  auto operator<=>(const StagePlace&) const = default;
};

/// Of one stage. Threads: any, and nobody waits.
struct StageMeter {
  StagePlace place;                         ///< set when it is opened
  std::atomic<std::uint64_t> requests{0};   ///< that came
  std::atomic<std::uint64_t> answered{0};   ///< whose values were sent on
  std::atomic<std::uint64_t> failed{0};     ///< that failed here
  std::atomic<std::uint64_t> in_flight{0};  ///< that came and have not left, as values or as errors
  std::atomic<std::uint64_t> bytes_received{0};  ///< frames of requests, headers included
  std::atomic<std::uint64_t> bytes_sent{0};
  std::atomic<Nanoseconds::rep> receiving{0};   ///< ns: while requests were coming in
  std::atomic<Nanoseconds::rep> sending{0};     ///< ns: until the link had taken what is sent
  std::atomic<Nanoseconds::rep> round_trip{0};  ///< of the link to the next stage, ns; 0: not known
  std::atomic<std::uint64_t> link_bytes_per_second{0};  ///< 0: not known
  std::atomic<Nanoseconds::rep> profiled_compute{0};    ///< of a request, ns; 0: not known
  std::atomic<bool> broken{false};                      ///< it ended by a failure
  std::atomic<bool> ended{false};
  DurationHistogram wait;  ///< of requests, to be computed
  DurationHistogram compute;
};

struct MeterReading {
  StagePlace place;
  // Of all stages that ever were there:
  std::uint64_t answered = 0;
  std::uint64_t failed = 0;
  std::uint64_t broken_stages = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  DurationCounts wait;
  DurationCounts compute;
  // Of those that are there now:
  std::uint64_t in_flight = 0;
  std::optional<Nanoseconds> round_trip;
  std::optional<std::uint64_t> link_bytes_per_second;
  std::optional<Nanoseconds> profiled_compute;
};

/// The meters of all stages of a device. A stage that opens takes the first free slot among those of its number in a pipeline, and adds to
/// what the stages before it left there: sums only grow, and there are never more of a number than stages of it were open at once.
///
/// Threads: any.
class StageMeters {
 public:
  /// Stages beyond so many share one place.
  static constexpr std::size_t kMostPlaces = 256;

  static constexpr StagePlace kShared{UINT32_MAX, UINT32_MAX};

  /// For a stage of that number, for as long as anybody holds it.
  std::shared_ptr<StageMeter> open(std::uint32_t stage);
  /// In the order of their places.
  std::vector<MeterReading> read() const;

 private:
  struct Entry {
    MeterReading past;  ///< of stages that are gone
    std::vector<const StageMeter*> present;
  };
  struct State {
    mutable std::mutex mutex;
    std::map<StagePlace, Entry> entries;
  };
  static void leave(State& state, const StagePlace& place, const StageMeter* meter);
  static StagePlace free_place(const State& state, std::uint32_t stage);

  // Shared with the meters, which may outlive this.
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace pareto::daemon
