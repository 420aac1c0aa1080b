// Convolutions in a row whose results nobody else reads, with a gate on their channels before the
// last: the blocks of mobile networks. Sees LibTorch: for runtime sources only.
//
//   input ─▶ 1 x 1 ─▶ depthwise ─┬─▶ means ─▶ gate ─┐
//                                └──────────────────▶ × ─▶ 1 x 1 ─▶ + addend ─▶ result
#pragma once

#include <torch/script.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/kernels/packed_convolution.h"

namespace pareto::runtime::kernels {

/// The layers of a chain. They may be run elsewhere as well.
struct ChainSpec {
  /// Two or more, in float32. With a gate the last is a 1 x 1 convolution.
  std::vector<c10::intrusive_ptr<PackedConvolution>> layers;
  /// None, or the two layers of a gate (ChannelGate): each channel that the last layer reads is
  /// multiplied by a factor that they compute of the means of all.
  std::vector<c10::intrusive_ptr<PackedConvolution>> gate{};
};

/// Runs the layers strip by strip, or one by one, whichever is faster for a size of input.
///
/// Threads: one at a time. Throws c10::Error, and what oneDNN throws.
class ConvolutionChain final : public torch::CustomClassHolder {
 public:
  /// strip_bytes: the most that the rows of a strip take, 0 for layers one by one. No value means
  /// whichever is the fastest for a size.
  explicit ConvolutionChain(ChainSpec spec, std::optional<std::size_t> strip_bytes = {});
  ~ConvolutionChain() override;

  /// Returns what the layers make of [batch, in, height, width]. The last adds `addend`, which may
  /// be undefined, or the input. It is written to if the caller gave away the last references.
  at::Tensor run(at::Tensor input, at::Tensor addend);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns the operator that runs one inside a graph: (Tensor input, Tensor? addend, Any capsule of
/// a ConvolutionChain) -> Tensor. Known to LibTorch from the first call on.
c10::Symbol convolution_chain_symbol();

}  // namespace pareto::runtime::kernels
