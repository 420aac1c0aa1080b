#include "core/wire/codecs/quantise.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/wire/codecs/widest.h"

// Vectors of 16 lanes, which compilers split where the CPU's are narrower. They never cross a call
// that is not inlined, so no ABI depends on them.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace pareto::wire::codecs {
namespace {

constexpr std::size_t kLanes = 16;
using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));
using Words = std::uint32_t __attribute__((vector_size(kLanes * sizeof(std::uint32_t))));
using Flags = std::int32_t __attribute__((vector_size(kLanes * sizeof(std::int32_t))));

constexpr float kMostSteps = 255;
/// 2^23: the last bit of a sum with it weighs one, so the addition rounds and its lowest byte is
/// the result.
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

/// A NaN leaves low and high as they are, but is seen.
struct WidenRows {
  PARETO_INLINE static void run(float* low, float* high, std::size_t channels,
                                const std::byte* from, std::size_t rows, bool* finite) {
    const Float* in = reinterpret_cast<const Float*>(from);
    std::uint32_t broken = 0;
    for (std::size_t row = 0; row < rows; ++row, in += channels) {
      for (std::size_t i = 0; i < channels; ++i) {
        const float x = in[i];
        low[i] = x < low[i] ? x : low[i];
        high[i] = x > high[i] ? x : high[i];
        broken |= (std::bit_cast<std::uint32_t>(x) & 0x7F80'0000) == 0x7F80'0000 ? 1 : 0;
      }
    }
    if (broken != 0) *finite = false;
  }
};

/// Returns the step a number comes to lie on, in the lowest byte. In this order a NaN (zero steps
/// of infinite inverse: a single number next to zero) is step 0.
PARETO_INLINE std::uint8_t step_of(float number, float low, float inverse) {
  float step = (number - low) * inverse;
  step = step > 0 ? step : 0;
  step = step < kMostSteps ? step : kMostSteps;
  return static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(step + kRounding));
}

struct QuantiseRows {
  PARETO_INLINE static void run(const float* low, const float* inverse, std::size_t channels,
                                const std::byte* from, std::size_t rows, std::byte* to) {
    const Float* in = reinterpret_cast<const Float*>(from);
    Byte* out = reinterpret_cast<Byte*>(to);
    for (std::size_t row = 0; row < rows; ++row, in += channels, out += channels) {
      for (std::size_t i = 0; i < channels; ++i) out[i] = step_of(in[i], low[i], inverse[i]);
    }
  }
};

struct DequantiseRows {
  PARETO_INLINE static void run(const float* zero_point, const float* scale, std::size_t channels,
                                const std::byte* from, std::size_t rows, std::byte* to) {
    const Byte* in = reinterpret_cast<const Byte*>(from);
    Float* out = reinterpret_cast<Float*>(to);
    for (std::size_t row = 0; row < rows; ++row, in += channels, out += channels) {
      for (std::size_t i = 0; i < channels; ++i) {
        out[i] = (static_cast<float>(in[i]) - zero_point[i]) * scale[i];
      }
    }
  }
};

struct Quantise {
  PARETO_INLINE static void run(float low, float inverse, const std::byte* from, std::size_t count,
                                std::byte* to) {
    const Float* const in = reinterpret_cast<const Float*>(from);
    Byte* const out = reinterpret_cast<Byte*>(to);
    for (std::size_t i = 0; i < count; ++i) out[i] = step_of(in[i], low, inverse);
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

ChannelRanges::ChannelRanges(std::size_t channels)
    : low(channels, std::numeric_limits<float>::infinity()),
      high(channels, -std::numeric_limits<float>::infinity()) {}

void ChannelSteps::add(const Steps& steps) {
  scale.push_back(steps.scale);
  zero_point.push_back(steps.zero_point);
}

void widen_rows(ChannelRanges& ranges, const std::byte* from, std::size_t rows) {
  widest<WidenRows>(ranges.low.data(), ranges.high.data(), ranges.low.size(), from, rows,
                    &ranges.finite);
}

void quantise_rows(const ChannelSteps& steps, const std::byte* from, std::size_t rows,
                   std::byte* to) {
  const std::size_t channels = steps.scale.size();
  std::vector<float> low(channels);
  std::vector<float> inverse(channels);
  for (std::size_t i = 0; i < channels; ++i) {
    low[i] = -steps.zero_point[i] * steps.scale[i];
    inverse[i] = 1 / steps.scale[i];
  }
  widest<QuantiseRows>(low.data(), inverse.data(), channels, from, rows, to);
}

void dequantise_rows(const ChannelSteps& steps, const std::byte* from, std::size_t rows,
                     std::byte* to) {
  widest<DequantiseRows>(steps.zero_point.data(), steps.scale.data(), steps.scale.size(), from,
                         rows, to);
}

std::optional<Steps> load_steps(const std::byte* from) {
  Steps steps;
  std::memcpy(&steps, from, sizeof(steps));
  if (!std::isfinite(steps.scale) || !std::isfinite(steps.zero_point)) return std::nullopt;
  return steps;
}

void store_steps(const Steps& steps, std::byte* to) { std::memcpy(to, &steps, sizeof(steps)); }

}  // namespace pareto::wire::codecs
