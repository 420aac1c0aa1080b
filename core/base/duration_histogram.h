// Counts of durations by size, updated as they happen and read later.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "core/base/clock.h"

namespace pareto {

/// 100 µs to 60 s in steps of about 1, 2, 5.
inline constexpr std::array<Nanoseconds, 18> kDurationBounds{
    std::chrono::microseconds(100), std::chrono::microseconds(200), std::chrono::microseconds(500),
    std::chrono::milliseconds(1),   std::chrono::milliseconds(2),   std::chrono::milliseconds(5),
    std::chrono::milliseconds(10),  std::chrono::milliseconds(20),  std::chrono::milliseconds(50),
    std::chrono::milliseconds(100), std::chrono::milliseconds(200), std::chrono::milliseconds(500),
    std::chrono::seconds(1),        std::chrono::seconds(2),        std::chrono::seconds(5),
    std::chrono::seconds(10),       std::chrono::seconds(20),       std::chrono::seconds(60)};

/// The counts of a histogram. A value.
struct DurationCounts {
  /// Durations up to each bound and above the one before; the last: those above every bound.
  std::array<std::uint64_t, kDurationBounds.size() + 1> counts{};
  Nanoseconds sum{};

  std::uint64_t total() const {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }
  DurationCounts& operator+=(const DurationCounts& other) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    sum += other.sum;
    return *this;
  }
};

/// Counts of durations by size, and their sum.
///
/// Threads: any, and nobody waits. What is read while durations are recorded may have one of them
/// in its counts that is not in its sum yet.
class DurationHistogram {
 public:
  /// Records a duration by two additions; less than none counts as none.
  void record(Nanoseconds duration) {
    duration = std::max(duration, Nanoseconds(0));
    const auto bound = std::ranges::lower_bound(kDurationBounds, duration);
    counts_[static_cast<std::size_t>(bound - kDurationBounds.begin())].fetch_add(
        1, std::memory_order_relaxed);
    sum_.fetch_add(duration.count(), std::memory_order_relaxed);
  }
  DurationCounts read() const {
    DurationCounts now;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      now.counts[i] = counts_[i].load(std::memory_order_relaxed);
    }
    now.sum = Nanoseconds(sum_.load(std::memory_order_relaxed));
    return now;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kDurationBounds.size() + 1> counts_{};
  std::atomic<Nanoseconds::rep> sum_{0};
};

}  // namespace pareto
