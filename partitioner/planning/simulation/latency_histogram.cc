#include "partitioner/planning/simulation/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace pareto::simulation {
namespace {

constexpr int kWidestValue = 63;

}  // namespace

LatencyHistogram::LatencyHistogram()
    : buckets_(static_cast<std::size_t>(kWidestValue - kBits + 1) << kBits) {}

void LatencyHistogram::add(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  // Values of kBits + 1 digits or fewer are buckets of their own; of wider ones the last digits go.
  const int dropped = std::max(0, static_cast<int>(std::bit_width(bits)) - kBits - 1);
  const std::size_t bucket =
      (static_cast<std::size_t>(dropped) << kBits) + static_cast<std::size_t>(bits >> dropped);
  ++buckets_[bucket];
  ++count_;
  sum_ += static_cast<double>(value);
  least_ = std::min(least_, value);
  most_ = std::max(most_, value);
}

void LatencyHistogram::clear() { *this = LatencyHistogram(); }

double LatencyHistogram::mean() const {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
}

double LatencyHistogram::quantile(double q) const {
  if (count_ == 0) return 0;
  const auto rank = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count_))), 1, count_);
  std::int64_t seen = 0;
  std::size_t bucket = 0;
  for (; bucket + 1 < buckets_.size(); ++bucket) {
    seen += static_cast<std::int64_t>(buckets_[bucket]);
    if (seen >= rank) break;
  }
  // The inverse of add(): the first 2^(kBits + 1) buckets hold one value each.
  const std::size_t single = std::size_t{2} << kBits;
  const std::size_t dropped = bucket < single ? 0 : (bucket >> kBits) - 1;
  const std::size_t digits = bucket - (dropped << kBits);
  const double low = std::ldexp(static_cast<double>(digits), static_cast<int>(dropped));
  const double middle = low + (std::ldexp(1, static_cast<int>(dropped)) - 1) / 2;
  return std::clamp(middle, static_cast<double>(least_), static_cast<double>(most_));
}

}  // namespace pareto::simulation
