#include "core/wire/codec_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/wire/bytes.h"

namespace pareto::wire {

CodecError codec_error(const Tensor& original, const Tensor& decoded) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr CodecError kWorst{.max = kInfinity, .mean = kInfinity};
  if (bit_equal(original, decoded)) return {};
  if (original.dtype() != DType::kFloat32 || decoded.dtype() != DType::kFloat32 ||
      original.shape() != decoded.shape()) {
    return kWorst;
  }
  if (original.layout() != decoded.layout()) {
    const auto one = row_major(original);
    const auto other = row_major(decoded);
    return one && other ? codec_error(*one, *other) : kWorst;
  }
  double largest = 0;
  double worst = 0;
  double sum = 0;
  for (std::size_t at = 0; at < original.size_bytes(); at += sizeof(float)) {
    const double expected = load<float>(original.bytes(), at);
    const double actual = load<float>(decoded.bytes(), at);
    if (std::isfinite(expected)) largest = std::max(largest, std::abs(expected));
    if (expected == actual || (std::isnan(expected) && std::isnan(actual))) continue;
    const double difference = std::abs(expected - actual);
    if (!std::isfinite(difference)) return kWorst;
    worst = std::max(worst, difference);
    sum += difference;
  }
  if (worst == 0) return {};
  if (largest == 0) return kWorst;
  const std::size_t count = original.size_bytes() / sizeof(float);
  return {.max = worst / largest, .mean = sum / static_cast<double>(count) / largest};
}

}  // namespace pareto::wire
