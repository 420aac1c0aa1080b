// Quantiles of any number of durations in constant memory: counts in buckets that grow with the
// value.
#pragma once

#include <cstdint>
#include <vector>

namespace pareto::simulation {

/// Values of 1024 ns and more share a bucket with others within a 512th of them, smaller ones share
/// with none. A quantile is off by at most kRelativeError, and never outside [least, most]. Mean
/// and extremes are exact. Threads: one owner.
class LatencyHistogram {
 public:
  static constexpr double kRelativeError = 1.0 / 1024;

  LatencyHistogram();
  /// Adds a value in ns, at least 0.
  void add(std::int64_t value);
  void clear();

  std::int64_t count() const { return count_; }
  double mean() const;  ///< 0 for none, as the others
  std::int64_t least() const { return count_ == 0 ? 0 : least_; }
  std::int64_t most() const { return most_; }
  /// Returns the value that a share q of all does not exceed; q in [0, 1].
  double quantile(double q) const;

 private:
  static constexpr int kBits = 9;  ///< digits of a value behind the first that tell buckets apart

  std::vector<std::uint64_t> buckets_;
  std::int64_t count_ = 0;
  double sum_ = 0;
  std::int64_t least_ = INT64_MAX;
  std::int64_t most_ = 0;
};

}  // namespace pareto::simulation
