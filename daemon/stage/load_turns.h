// Turns of those who load shards.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "core/base/clock.h"

namespace pareto::daemon {

/// Lets one load after another go on: engines are timed while they load. A load that takes longer
/// than a turn keeps the others waiting no longer: they go on next to it.
///
/// Threads: any.
class LoadTurns {
 public:
  explicit LoadTurns(Nanoseconds turn) : turn_(turn) {}

  /// One load's turn, given back when it is destroyed.
  class Turn {
   public:
    explicit Turn(LoadTurns& turns);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    LoadTurns& turns_;
    std::uint64_t number_ = 0;
  };

 private:
  const Nanoseconds turn_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t last_ = 0;
  std::uint64_t holder_ = 0;  ///< number of the load whose turn it is; 0: nobody's
  TimePoint since_;
};

}  // namespace pareto::daemon
