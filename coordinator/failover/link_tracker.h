// What links take now: as they were probed, and as messages that cross them say since.
//
//   probed links ──▶ LinkTracker ◀── readings of messages, probes of idle links
//                        └──▶ the same links, slower or faster
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/transport/link_probe.h"
#include "partitioner/planning/inputs/probes.h"

namespace pareto::failover {

/// One direction of a link, by a transport.
struct LinkWay {
  std::string transport;
  std::size_t from = 0;  ///< row of ProbedLinks
  std::size_t to = 0;
  bool operator==(const LinkWay&) const = default;
};

/// A message as its receiver saw it.
struct LinkReading {
  std::uint64_t bytes = 0;
  Nanoseconds time{};  ///< from its first byte to its last
  /// True if the receiver waited for messages. Else messages wait in its buffers, and are read
  /// faster than they crossed.
  bool waited_for = false;
};

/// The news that readings of a way hold.
enum class Heard {
  kNothing,  ///< too little to know
  kSame,     ///< it is as it was
  kChanged,
};

/// Scales the times of each way by what was read of it. The times of processors, and how messages
/// of different sizes compare, stay as they were probed.
///
/// Threads: one owner.
class LinkTracker {
 public:
  /// Fewer messages than this say little of a link.
  static constexpr std::size_t kFewestReadings = 5;

  explicit LinkTracker(std::vector<planning::ProbedTransport> probed);

  /// Takes the readings of a way since the last call. They say nothing if there are too few, or if
  /// they are of small messages. The way changes if they differ from what is known by more than
  /// among each other.
  Heard read(const LinkWay& way, const std::vector<LinkReading>& readings);
  /// Takes a probe of a way. Returns whether its times changed by it. A probe that finds the way
  /// slower is taken only with the next one, and the faster of both: other messages, or a processor
  /// that is busy, make a probe slower, and nothing makes it faster.
  bool probe(const LinkWay& way, const transport::ProbeResult& result);
  /// Returns whether the last probe of a way waits for another one.
  bool wants_another_probe(const LinkWay& way) const;

  /// Returns the ways that were probed at first.
  std::vector<LinkWay> ways() const;
  /// Returns whether a way is one of them.
  bool knows(const LinkWay& way) const;
  /// Returns the links as they are now.
  std::vector<planning::ProbedTransport> links() const;
  /// Returns the share by which readings of any way differed among each other when they were last
  /// taken.
  double spread() const;
  /// Returns how many times as slow a way is as it was probed at first.
  double slowness(const LinkWay& way) const;

 private:
  struct State {
    LinkWay way;
    double scale = 1;
    Nanoseconds more_delay{};
    double spread = 0;
    std::optional<transport::ProbeResult> slower{};  ///< probe that waits for the next one
  };
  State* find(const LinkWay& way);
  const transport::ProbeResult& probed(const LinkWay& way) const;
  /// Returns how many times as slow a point of a probe is as the way was probed at first.
  double scale_of(const LinkWay& way, const transport::ProbePoint& point) const;

  const std::vector<planning::ProbedTransport> probed_;
  std::vector<State> states_;
};

}  // namespace pareto::failover
