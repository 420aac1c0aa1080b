// Arithmetic on the pixels of pictures whose channels are innermost, as wide as the processor's
// vectors: what stands between the convolutions of mobile networks. Internal to runtime; no
// LibTorch.
#pragma once

#include <cstddef>

namespace pareto::runtime::kernels {

/// Replaces each number x by x / (1 + exp(-x)). The error is below 4e-7 * (1 + |x|) of the result.
void silu(float* numbers, std::size_t count);
/// Replaces each number x by 1 / (1 + exp(-x)), as exactly.
void sigmoid(float* numbers, std::size_t count);
/// Adds to sums[c] the numbers of channel c in all pixels.
void add_pixels(const float* pixels, std::size_t count, std::size_t channels, float* sums);
/// Writes each pixel times one factor a channel.
void scale_pixels(const float* pixels, std::size_t count, std::size_t channels,
                  const float* factors, float* result);
/// Adds to results[o] the sum of inputs[i] * weights[i * stride + o], for `outputs` results.
void add_products(const float* inputs, std::size_t count, const float* weights, std::size_t stride,
                  std::size_t outputs, float* results);

}  // namespace pareto::runtime::kernels
