#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "coordinator/data/picture.h"

namespace pareto::data {
namespace {

/// Weights are whole numbers of 1 / 2^22, so that every machine gives the same bytes.
constexpr int kWeightBits = 22;

struct Filter {
  double radius;
  double (*weight)(double distance);  ///< distance ≥ 0
};

double triangle(double distance) { return std::max(0.0, 1 - distance); }

/// Returns the cubic convolution with a = −1/2 (Keys, 1981).
double cubic(double distance) {
  constexpr double kA = -0.5;
  const double x = distance;
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0;
}

Filter filter_of(Interpolation interpolation) {
  return interpolation == Interpolation::kBicubic ? Filter{2, cubic} : Filter{1, triangle};
}

/// Pixels of a line that each pixel of the new line is made of.
struct Taps {
  struct Range {
    int first = 0;
    int count = 0;
  };
  std::vector<Range> ranges;          ///< one for each new pixel
  std::vector<std::int32_t> weights;  ///< `most` for each new pixel
  int most = 0;

  const std::int32_t* weights_of(int pixel) const {
    return weights.data() + static_cast<std::size_t>(pixel) * static_cast<std::size_t>(most);
  }
};

Taps taps_of(int from, int to, const Filter& filter) {
  const double scale = static_cast<double>(from) / to;
  // The filter grows with what a new pixel covers.
  const double stretch = std::max(scale, 1.0);
  const double support = filter.radius * stretch;
  Taps taps;
  taps.most = static_cast<int>(std::ceil(support)) * 2 + 1;
  taps.ranges.resize(static_cast<std::size_t>(to));
  taps.weights.resize(static_cast<std::size_t>(to) * static_cast<std::size_t>(taps.most));
  std::vector<double> exact(static_cast<std::size_t>(taps.most));
  for (int pixel = 0; pixel < to; ++pixel) {
    const double centre = (pixel + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(std::floor(centre - support + 0.5)));
    const int end = std::min(from, static_cast<int>(std::floor(centre + support + 0.5)));
    const int count = end - first;
    const double shrink = 1 / stretch;
    double sum = 0;
    for (int i = 0; i < count; ++i) {
      exact[static_cast<std::size_t>(i)] =
          filter.weight(std::abs((i + first - centre + 0.5) * shrink));
      sum += exact[static_cast<std::size_t>(i)];
    }
    taps.ranges[static_cast<std::size_t>(pixel)] = {first, count};
    for (int i = 0; i < count; ++i) {
      double weight = exact[static_cast<std::size_t>(i)];
      if (sum != 0) weight /= sum;
      weight *= 1 << kWeightBits;
      taps.weights[static_cast<std::size_t>(pixel) * static_cast<std::size_t>(taps.most) +
                   static_cast<std::size_t>(i)] =
          static_cast<std::int32_t>(weight < 0 ? weight - 0.5 : weight + 0.5);
    }
  }
  return taps;
}

std::uint8_t to_byte(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);

template <int kChannels>
void resize_row(const std::uint8_t* from, const Taps& taps, std::uint8_t* to) {
  for (std::size_t pixel = 0; pixel < taps.ranges.size(); ++pixel) {
    const auto [first, count] = taps.ranges[pixel];
    const std::int32_t* const weights = taps.weights_of(static_cast<int>(pixel));
    std::array<std::int32_t, kChannels> sums;
    sums.fill(kHalf);
    const std::uint8_t* source = from + static_cast<std::ptrdiff_t>(first) * kChannels;
    for (int i = 0; i < count; ++i) {
      for (std::size_t c = 0; c < kChannels; ++c) sums[c] += source[c] * weights[i];
      source += kChannels;
    }
    for (std::size_t c = 0; c < kChannels; ++c) *to++ = to_byte(sums[c]);
  }
}

std::size_t bytes_of(PictureSize size, int channels) {
  return static_cast<std::size_t>(size.height) * static_cast<std::size_t>(size.width) *
         static_cast<std::size_t>(channels);
}

Picture resize_width(const Picture& picture, int width, const Filter& filter) {
  const Taps taps = taps_of(picture.size.width, width, filter);
  Picture made{{picture.size.height, width}, picture.channels, {}};
  made.bytes.resize(bytes_of(made.size, made.channels));
  const std::size_t from = bytes_of({1, picture.size.width}, picture.channels);
  const std::size_t to = bytes_of({1, width}, picture.channels);
  for (std::size_t row = 0; row < static_cast<std::size_t>(made.size.height); ++row) {
    const std::uint8_t* const source = picture.bytes.data() + row * from;
    std::uint8_t* const target = made.bytes.data() + row * to;
    picture.channels == 1 ? resize_row<1>(source, taps, target)
                          : resize_row<3>(source, taps, target);
  }
  return made;
}

Picture resize_height(const Picture& picture, int height, const Filter& filter) {
  const Taps taps = taps_of(picture.size.height, height, filter);
  Picture made{{height, picture.size.width}, picture.channels, {}};
  made.bytes.resize(bytes_of(made.size, made.channels));
  const std::size_t row_bytes = bytes_of({1, picture.size.width}, picture.channels);
  std::vector<std::int32_t> sums(row_bytes);
  for (std::size_t row = 0; row < static_cast<std::size_t>(height); ++row) {
    const auto [first, count] = taps.ranges[row];
    const std::int32_t* const weights = taps.weights_of(static_cast<int>(row));
    std::ranges::fill(sums, kHalf);
    for (int i = 0; i < count; ++i) {
      const std::uint8_t* const source =
          picture.bytes.data() + static_cast<std::size_t>(first + i) * row_bytes;
      const std::int32_t weight = weights[i];
      for (std::size_t x = 0; x < row_bytes; ++x) sums[x] += source[x] * weight;
    }
    std::uint8_t* const target = made.bytes.data() + row * row_bytes;
    for (std::size_t x = 0; x < row_bytes; ++x) target[x] = to_byte(sums[x]);
  }
  return made;
}

}  // namespace

Expected<Picture> resize(const Picture& picture, PictureSize size, Interpolation interpolation) {
  PARETO_TRY(check_pixels(size.height, size.width));
  // The size between both passes.
  PARETO_TRY(check_pixels(picture.size.height, size.width));
  const Filter filter = filter_of(interpolation);
  if (size.width == picture.size.width) {
    return size.height == picture.size.height ? picture
                                              : resize_height(picture, size.height, filter);
  }
  Picture made = resize_width(picture, size.width, filter);
  if (size.height == made.size.height) return made;
  return resize_height(made, size.height, filter);
}

}  // namespace pareto::data
