// When requests come to the source of a pipeline, and what is kept of those that are in flight.
// Internal to partitioner/planning/simulation.
#pragma once

#include <cstdint>

#include "partitioner/planning/simulation/simulate.h"
#include "partitioner/planning/simulation/world.h"

namespace pareto::simulation {

/// Purposes of a pipeline's draws: its threads' times, each crossing's of a thread, then the rest.
struct DrawPurpose {
  static constexpr std::uint64_t kPerThread = 2 * Wire::kPurposes;
  static constexpr std::uint64_t kOccupancy = 1;
  static constexpr std::uint64_t kDelay = 2;
  static constexpr std::uint64_t kPackets = Wire::kPurposes;
  static constexpr std::uint64_t kRows = 1000 * kPerThread;
  static constexpr std::uint64_t kRowChoice = kRows + 1;
  static constexpr std::uint64_t kArrivals = kRows + 2;
  static constexpr std::uint64_t kSecondCarrier = kRows + 3;
};

/// Requests of all pipelines of a world. Times are nanoseconds of the simulation.
///
/// Threads: one owner.
class Requests {
 public:
  /// Makes them. Both outlive it; `scenario` is what `world` was made from.
  Requests(const Scenario& scenario, World& world) : scenario_(scenario), world_(world) {}

  /// Returns when the first request of a pipeline comes, and puts its draws at their beginning.
  std::int64_t first(Pipeline& pipeline);
  /// Returns how long after this request the next one comes to an open source.
  std::int64_t wait_for_next(std::uint32_t source, Pipeline& pipeline);
  /// Returns whether a pipeline takes requests as its window lets it, all at once.
  bool is_closed(const Pipeline& pipeline) const;
  /// Makes room for one more request in flight, with its draws for all its parts. False: there are
  /// more than can be counted.
  [[nodiscard]] bool note(Pipeline& pipeline, std::uint32_t number, std::int64_t now);

 private:
  const Scenario& scenario_;
  World& world_;
};

}  // namespace pareto::simulation
