// One convolution with what follows it: a sum with another tensor, an activation. oneDNN runs it on
// pictures whose channels are the innermost dimension. Its weights are packed once, in the best
// layout for this size of picture. It includes LibTorch: include it only in sources of
// runtime.
#pragma once

#include <torch/script.h>

#include <memory>
#include <optional>
#include <vector>

#include "runtime/kernels/activation.h"
#include "runtime/kernels/packed_weights.h"

namespace pareto::runtime::kernels {

class LayerWeights;

/// A linear layer is the convolution of a picture one pixel high with a kernel of one pixel: the
/// same bytes in the same order.
struct ConvolutionSpec {
  bool linear = false;  ///< inputs are [..., in]; no stride, padding, dilation or groups
  at::Tensor weight;    ///< [out, in / groups, height, width], float32
  at::Tensor bias;      ///< [out], or undefined
  std::vector<std::int64_t> stride;
  std::vector<std::int64_t> padding;
  std::vector<std::int64_t> dilation;
  std::int64_t groups = 1;
  Activation activation;
  std::shared_ptr<PackedWeights> packed;  ///< those of the whole engine
  at::ScalarType compute = at::kFloat;  ///< type of inputs, weights and result: kFloat or kBFloat16
};

/// A convolution with the sum and the activation behind it, prepared for the sizes of pictures that
/// come.
///
/// Threads: one at a time. Throws c10::Error, and what oneDNN throws.
class PackedConvolution final : public torch::CustomClassHolder {
 public:
  explicit PackedConvolution(ConvolutionSpec spec);
  ~PackedConvolution() override;

  /// Returns activation(convolution(input) + addend). `addend` may be undefined; it is written to
  /// if the caller gave away the last reference to it. `input` is [batch, in, height, width], or
  /// [..., in] for a linear layer, in the spec's type.
  at::Tensor run(const at::Tensor& input, at::Tensor addend);

  /// Its spec, but the weight is undefined.
  const ConvolutionSpec& spec() const;
  const std::vector<std::int64_t>& weight_sizes() const;
  LayerWeights& weights() const;
  /// Returns the sizes of the result for [batch, in, height, width]. Throws where the kernel is
  /// larger than the input.
  std::vector<std::int64_t> output_sizes(at::IntArrayRef input) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns whether oneDNN has convolutions in bfloat16 for this processor. Threads: any.
bool has_bfloat16_convolutions();

/// Returns the operator that runs one inside a graph: (Tensor input, Tensor? addend, Any capsule of
/// a PackedConvolution) -> Tensor. Known to LibTorch from the first call on.
c10::Symbol packed_convolution_symbol();

}  // namespace pareto::runtime::kernels
