// float32 as 8 bits and back: value = (byte - zero_point) × scale. Internal to core/wire/codecs.
//
//   range_of --> steps_over --> quantise ~~~ dequantise
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace pareto::wire::codecs {

/// The range of some numbers, none of them NaN or infinite if `finite`.
struct Range {
  float low = 0;
  float high = 0;
  bool finite = true;
};

/// The steps as they stand in an encoding: 8 bytes.
struct Steps {
  float scale = 1;
  /// Whole, unless beyond 2^24; 0 … 255 exactly where the numbers reach from below zero to above.
  float zero_point = 0;
};
inline constexpr std::size_t kStepsBytes = sizeof(Steps);

/// Widens `range` by `count` floats at `from`; the first call for a range says so.
void widen(Range& range, bool first, const std::byte* from, std::size_t count);
/// Returns 256 steps over a range, such that zero, where it is inside, is one of them and a single
/// number is met exactly. None where the range, or a step at its ends, is not finite. A step is
/// never smaller than 2^-126, the smallest normal number.
std::optional<Steps> steps_over(const Range& range);
/// Converts `count` floats to as many bytes. They are off by half a step at most, and by the
/// rounding of float32.
void quantise(const Steps& steps, const std::byte* from, std::size_t count, std::byte* to);
void dequantise(const Steps& steps, const std::byte* from, std::size_t count, std::byte* to);

// Functions for numbers of several channels that lie side by side, row after row. Each channel has
// steps of its own.

struct ChannelRanges {
  explicit ChannelRanges(std::size_t channels);
  /// Returns the range of a channel that has been seen.
  Range of(std::size_t channel) const { return {low[channel], high[channel], finite}; }

  std::vector<float> low;
  std::vector<float> high;
  bool finite = true;  ///< all of them
};

struct ChannelSteps {
  std::vector<float> scale;
  std::vector<float> zero_point;
  void add(const Steps& steps);
  Steps of(std::size_t channel) const { return {scale[channel], zero_point[channel]}; }
};

/// Widens the ranges by `rows` rows of floats at `from`. Ranges that have seen none yet are empty.
void widen_rows(ChannelRanges& ranges, const std::byte* from, std::size_t rows);
void quantise_rows(const ChannelSteps& steps, const std::byte* from, std::size_t rows,
                   std::byte* to);
void dequantise_rows(const ChannelSteps& steps, const std::byte* from, std::size_t rows,
                     std::byte* to);

/// Loads steps from a stranger's bytes, which hold kStepsBytes; none if they are not finite.
std::optional<Steps> load_steps(const std::byte* from);
void store_steps(const Steps& steps, std::byte* to);

}  // namespace pareto::wire::codecs
