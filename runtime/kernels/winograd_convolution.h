// A 3 x 3 convolution of stride 1 by Winograd's minimal filtering. Input tiles are transformed, and
// multiplied by the transformed weights in 16 matrix products (oneDNN). The products are
// transformed back with bias, sum and activation. It includes LibTorch: include it only in sources
// of runtime.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "runtime/kernels/packed_convolution.h"

namespace pareto::runtime::kernels {

/// A convolution for one size of input. Threads: one at a time.
class WinogradConvolution {
 public:
  /// Returns whether this method can compute the convolution. That depends on the kernel's shape
  /// and its stride. Channels must be multiples of 16, and an activation may only clamp the result.
  static bool fits(const ConvolutionSpec& spec);

  /// Requires fits(). `content`: of the spec's weight. input_sizes: [batch, in, height, width].
  /// threads: each computes some of the tiles, from beginning to end. Throws what oneDNN throws.
  WinogradConvolution(const ConvolutionSpec& spec, const WeightContent& content,
                      at::IntArrayRef input_sizes, int threads = 1);
  ~WinogradConvolution();

  std::size_t weight_bytes() const;
  /// Keeps the weights for good, among the spec's packed ones.
  void keep_weights();
  /// Runs the convolution. Both tensors are channels-last and of the spec's type. `adds`: to what
  /// lies in `result` already.
  void run(const at::Tensor& input, at::Tensor& result, bool adds, bool activates);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::runtime::kernels
