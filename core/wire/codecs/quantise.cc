#include "core/wire/codecs/quantise.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/wire/codecs/widest.h"

// Vectors of 16 lanes, which compilers split where the CPU's are narrower. They never cross a call that is not inlined, so no
// ABI depends on them.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace pareto::wire::codecs {
namespace {

constexpr std::size_t kLanes = 16;
using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));
using Words = std::uint32_t __attribute__((vector_size(kLanes * sizeof(std::uint32_t))));
using Flags = std::int32_t __attribute__((vector_size(kLanes * sizeof(std::int32_t))));

constexpr float kMostSteps = 255;
/// 2^23: the last bit of a sum with it weighs one, so the addition rounds and its lowest byte is the result.
constexpr float kRounding = 8'388'608;

/// Compilers make no vectors of a plain loop here: the order of comparisons matters to a NaN.
struct Widen {
  PARETO_INLINE static void run(Range* range, const std::byte* from, std::size_t count) {
    Floats low = Floats{} + range->low;
    Floats high = Floats{} + range->high;
    Flags broken{};
    const auto see = [&](const Floats& x) __attribute__((always_inline)) {
      Words words;
      std::memcpy(&words, &x, sizeof(words));
      low = x < low ? x : low;
      high = x > high ? x : high;
      broken |= reinterpret_cast<Flags>((words & 0x7F80'0000) == 0x7F80'0000);
    };
    std::size_t i = 0;
    Floats x;
    for (; i + kLanes <= count; i += kLanes) {
      std::memcpy(&x, from + i * sizeof(float), sizeof(x));
      see(x);
    }
    if (i < count) {
      // The lanes that are left repeat one of the numbers seen.
      x = Floats{} + range->low;
      std::memcpy(&x, from + i * sizeof(float), (count - i) * sizeof(float));
      see(x);
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      range->low = std::min(range->low, low[lane]);
      range->high = std::max(range->high, high[lane]);
      if (broken[lane] != 0) range->finite = false;
    }
  }
};

struct Quantise {
  PARETO_INLINE static void run(float low, float inverse, const std::byte* from, std::size_t count,
                                std::byte* to) {
    const Float* const in = reinterpret_cast<const Float*>(from);
    Byte* const out = reinterpret_cast<Byte*>(to);
    for (std::size_t i = 0; i < count; ++i) {
      float step = (in[i] - low) * inverse;
      // In this order a NaN (zero steps of infinite inverse: a single number next to zero) is step 0.
      step = step > 0 ? step : 0;
      step = step < kMostSteps ? step : kMostSteps;
      out[i] = static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(step + kRounding));
    }
  }
};

struct Dequantise {
  PARETO_INLINE static void run(Steps steps, const std::byte* from, std::size_t count,
                                std::byte* to) {
    const Byte* const in = reinterpret_cast<const Byte*>(from);
    Float* const out = reinterpret_cast<Float*>(to);
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = (static_cast<float>(in[i]) - steps.zero_point) * steps.scale;
    }
  }
};

}  // namespace

void widen(Range& range, bool first, const std::byte* from, std::size_t count) {
  if (count == 0) return;
  if (first) {
    std::memcpy(&range.low, from, sizeof(float));
    range.high = range.low;
    range.finite = std::isfinite(range.low);
  }
  widest<Widen>(&range, from, count);
}

std::optional<Steps> steps_over(const Range& range) {
  if (!range.finite) return std::nullopt;
  if (range.low == range.high) {
    return range.low == 0 ? Steps{} : Steps{.scale = range.low, .zero_point = -1};
  }
  const double width = static_cast<double>(range.high) - static_cast<double>(range.low);
  Steps steps;
  steps.scale = std::max(static_cast<float>(width / static_cast<double>(kMostSteps)),
                         std::numeric_limits<float>::min());
  steps.zero_point = static_cast<float>(
      std::nearbyint(-static_cast<double>(range.low) / static_cast<double>(steps.scale)));
  const bool ends_are_finite = std::isfinite(steps.zero_point * steps.scale) &&
                               std::isfinite((kMostSteps - steps.zero_point) * steps.scale);
  return ends_are_finite ? std::optional(steps) : std::nullopt;
}

void quantise(const Steps& steps, const std::byte* from, std::size_t count, std::byte* to) {
  widest<Quantise>(-steps.zero_point * steps.scale, 1 / steps.scale, from, count, to);
}

void dequantise(const Steps& steps, const std::byte* from, std::size_t count, std::byte* to) {
  widest<Dequantise>(steps, from, count, to);
}

std::optional<Steps> load_steps(const std::byte* from) {
  Steps steps;
  std::memcpy(&steps, from, sizeof(steps));
  if (!std::isfinite(steps.scale) || !std::isfinite(steps.zero_point)) return std::nullopt;
  return steps;
}

void store_steps(const Steps& steps, std::byte* to) { std::memcpy(to, &steps, sizeof(steps)); }

}  // namespace pareto::wire::codecs
