// The arithmetic around the products of Winograd's minimal filtering F(2x2, 3x3). A tile of 4 x 4
// pixels gives a tile of 2 x 2 results of a 3 x 3 kernel. It takes 16 products a channel, the
// definition 36. (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", CVPR 2016,
// section 4.1.) Pictures have their channels innermost. No LibTorch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pareto::runtime::kernels::winograd {

inline constexpr int kInputTile = 4;
inline constexpr int kOutputTile = 2;
inline constexpr int kPoints = kInputTile * kInputTile;
/// Numbers of channels are multiples of this.
inline constexpr int kLanes = 16;

/// The upper half of a float.
struct BFloat16 {
  std::uint16_t bits;
};

/// Transforms `kernels`: [out][in][3][3] -> [kPoints][in][out].
std::vector<float> transform_weights(const float* kernels, std::size_t out, std::size_t in);

/// One tile into the products' space. pixels: the tile's pixels row by row, `channels` numbers
/// each; point i goes to result + i * plane. T: float, BFloat16.
template <typename T>
void transform_input(const std::array<const T*, kPoints>& pixels, T* result, std::size_t plane,
                     std::size_t channels);

/// The last steps for every result of a tile.
struct Finish {
  const float* bias;  ///< [channels]
  bool adds;          ///< whether it adds to what lies there already
  float low;          ///< then held between these two
  float high;
};

/// One tile out of the products' space: point i lies at points + i * plane; pixels: where the
/// results go, row by row.
template <typename T>
void transform_output(const float* points, std::size_t plane, const Finish& finish,
                      const std::array<T*, kOutputTile * kOutputTile>& pixels,
                      std::size_t channels);

}  // namespace pareto::runtime::kernels::winograd
