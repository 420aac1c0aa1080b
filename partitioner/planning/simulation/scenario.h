// Scenario of a simulation: devices, the media between them, pipelines that run on them, and times
// of requests. Plain values, from a file (scenario_file.h) or a measured trial, for simulate().
//
//   source ══ crossing ══▶ [ stage 0 ] ══ crossing ══▶ … [ stage K-1 ] ══ crossing ══▶ sink
//                            receive → queue → compute → queue → send, each a thread
//
// A class stands for `count` alike things. The stages of a class's pipelines take the devices of
// their class in turn: of 1000 pipelines on 100 devices each device has ten stages. Pipelines take
// media in turn too, but all links of one on the same class have the same medium.
//
// All times are whole nanoseconds, as in partitioner/planning/cost.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/plan/condition.h"

namespace pareto::simulation {

enum class Shape { kLognormal, kNormal, kExponential };
/// Returns "lognormal", "normal", "exponential".
std::string_view to_string(Shape shape);

/// Times of measured requests: a row for each request, a column for each of its parts. A simulated
/// request takes all parts from one row, so they fit together. On average, `block` rows follow each
/// other as they were measured, because neighbours resemble each other (stationary bootstrap,
/// Politis and Romano 1994).
struct Recording {
  std::size_t columns = 0;
  std::vector<std::int64_t> nanoseconds;  ///< [row * columns + column]
  double block = 1;                       ///< rows, at least 1

  std::size_t rows() const { return columns == 0 ? 0 : nanoseconds.size() / columns; }
  /// Returns one of them, of random bits.
  std::uint32_t any_row(std::uint64_t bits) const {
    const std::uint64_t count = rows();
    return count == 0 ? 0 : static_cast<std::uint32_t>(bits % count);
  }
};

/// The time that something takes: what a column of the pipeline's recording says, or else drawn
/// from a distribution.
struct Duration {
  Nanoseconds mean{};
  double cv =
      0;  ///< standard deviation / mean; 0: always the mean. Of an exponential distribution it is 1
  Shape shape = Shape::kLognormal;  ///< normal: cut off at 0
  int column = -1;                  ///< column of the recording; -1: none

  bool is_zero() const { return column < 0 && mean.count() == 0; }
};

/// A class of media that messages of a crossing pass.
struct MediumPass {
  int medium = 0;
  double share = 1;  ///< share of the crossing's `occupancy`: a faster one is passed in less
};

/// One direction of a link, for one message. The message waits for its turn, and occupies the link
/// for `occupancy` and for its bytes at the condition's rate. It arrives after the condition's
/// delay and `delay`. Another one may be under way meanwhile; they arrive in order.
struct Crossing {
  /// Bytes of one message on the wire, headers of all its packets included.
  std::uint64_t bytes = 0;
  Duration occupancy{};  ///< beyond those
  Duration delay{};      ///< beyond the condition's
  /// The time by which it arrives sooner, but never before its turn: parts of it left while the
  /// stage before still computed.
  Nanoseconds early{};
  plan::LinkDirection condition{};
  /// Channels that a message passes, two at most; their conditions hold instead. It asks for its
  /// turn on the second when it has that on the first. Then it is on both at the same time, each
  /// for its share of `occupancy` and for its bytes at its rate. It arrives after the later of
  /// both, and both delays. Empty means a link of its own.
  std::vector<MediumPass> media{};
  bool stagger = false;  ///< each link begins its trace somewhere in its period
  /// Messages that have been sent and not yet taken: what the connection holds by itself. A sender
  /// waits beyond.
  int places = 64;
};

struct Stage {
  int device = 0;   ///< a class of devices
  Crossing link{};  ///< link that requests come by
  // Processor time for a message, by one thread each: a device with one core does one of them at a
  // time.
  Duration receive{};
  Duration compute{};
  /// Time to compute a message that follows the one before within a quarter of that one's time. The
  /// stage is then awake, and its caches are warm. No value means the same as `compute`.
  std::optional<Duration> busy{};
  Duration send{};
  /// Messages that may wait to be computed, and as many to be sent; who hands one more over waits.
  int queue = 4;
};

enum class ArrivalKind {
  kClosed,   ///< whenever fewer than `window` are in flight
  kPoisson,  ///< requests at random, `rate_per_s` on average
  kPeriodic,
  kTrace,
};

/// The times at which a pipeline's requests come. Those that find `window` of them in flight wait
/// at the source.
struct Arrivals {
  ArrivalKind kind = ArrivalKind::kClosed;
  double rate_per_s = 0;  ///< kPoisson
  Nanoseconds period{};   ///< kPeriodic; each pipeline of a class begins somewhere in it
  /// kTrace: of each request since the one before (of the first: since the last). It begins again
  /// at its end, and each pipeline of a class but the first somewhere in it.
  std::vector<Nanoseconds> gaps{};
};

struct DeviceClass {
  std::string name;
  int count = 1;
  int cores = 1;
  double speed = 1;  ///< times of its stages are divided by it
  /// Processor time in every period, used as fast as it goes and then waited for the next (a
  /// cgroup's CPU quota); 0: no limit. With a quota it has one core.
  Nanoseconds quota{};
  Nanoseconds period{};
};

/// A channel that several links share: a Wi-Fi channel, a network card. Messages of all of them,
/// both ways, take their turn.
struct MediumClass {
  std::string name;
  int count = 1;
  plan::LinkDirection condition{};
  bool stagger = false;
};

struct PipelineClass {
  std::string name;
  int count = 1;
  std::vector<Stage> stages;
  Crossing result{};  ///< crossing from the last stage to the sink
  Duration source{};  ///< time of the source for a request, before it is sent; on no device
  Duration sink{};    ///< time of the sink for a result
  Arrivals arrivals{};
  int window = 0;          ///< requests in flight, at most; 0: any number (not of closed arrivals)
  std::int64_t batch = 1;  ///< samples of a request
  std::shared_ptr<const Recording> recording{};  ///< no value means that no duration has a column
};

struct Scenario {
  std::uint64_t seed = 1;
  std::int64_t requests =
      0;  ///< completions, of all pipelines together, after which it ends; 0: it ends by time
  Nanoseconds duration{};  ///< simulated time; 0: it ends by requests. The first of both counts
  /// Time until which nothing is measured (at most half the duration). No value means a tenth of
  /// the duration or of the requests, whichever is over first.
  std::optional<Nanoseconds> warm_up{};
  std::vector<DeviceClass> devices;
  std::vector<MediumClass> media;
  std::vector<PipelineClass> pipelines;
};

/// Checks that references, sizes and times are in range, conditions are such as can be simulated
/// (no burst_loss, reorder, duplicate or jitter_correlation), and every request takes time. Fails:
/// kInvalidArgument naming the class and what to change.
Expected<> check(const Scenario& scenario);

inline constexpr int kMostInstances =
    1'000'000;  ///< devices, media or pipelines, all classes together
inline constexpr std::int64_t kMostStages = 4'000'000;  ///< stages of all pipelines together
inline constexpr Nanoseconds kLongest = std::chrono::hours(24 * 366);  ///< simulated time

}  // namespace pareto::simulation
