// State of one direction of a link at a given time. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/plan/condition.h"

namespace pareto::netem {

/// The states of one direction, and when each begins.
///
/// Threads: const members from any.
class Trace {
 public:
  struct State {
    Nanoseconds delay{};
    std::uint64_t bits_per_second = 0;
    /// Time at which it may be different; no value means that it stays so.
    std::optional<Nanoseconds> until;
  };

  explicit Trace(const plan::LinkDirection& direction);

  /// Returns the state at the time `since` the link was made; before that, the first state.
  State at(Nanoseconds since) const;
  bool changes_rate() const { return changes_rate_; }

 private:
  struct Row {
    Nanoseconds at{};
    Nanoseconds delay{};
    std::uint64_t bits_per_second = 0;
  };
  std::vector<Row> rows_;  ///< the first at 0
  Nanoseconds period_{};
  bool changes_rate_ = false;
};

}  // namespace pareto::netem
