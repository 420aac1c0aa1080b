// A convolution by oneDNN for one size of input, cut into pieces for the threads of a pool. Each
// piece is a convolution of its own on one thread. Internal to runtime; sees LibTorch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "runtime/kernels/convolution_methods.h"
#include "runtime/kernels/convolution_piece.h"
#include "runtime/kernels/layer_weights.h"
#include "runtime/kernels/packed_convolution.h"
#include "runtime/kernels/parts.h"

namespace pareto::runtime::kernels {

/// Returns the cuts among which the fastest is, for a number of threads; at least one.
std::vector<Cut> promising_cuts(const ConvolutionProblem& problem, int threads);

/// A convolution of pictures of one size, cut into pieces that the threads of a pool share.
///
/// Threads: one at a time. Throws what oneDNN throws.
class DirectConvolution {
 public:
  /// cut: a promising one. `weights` must outlive it.
  DirectConvolution(const ConvolutionProblem& problem, Cut cut, int threads, LayerWeights& weights);

  std::size_t weight_bytes() const;
  /// Keeps the weights for good.
  void keep_weights();
  /// Runs the convolution; both lie densely with the channels innermost, in the spec's type.
  void run(const at::Tensor& input, at::Tensor& result);

 private:
  using Sizes = std::vector<std::int64_t>;

  struct Piece {
    std::int64_t source_begin = 0;       ///< bytes from the beginning
    std::int64_t destination_begin = 0;  ///< the same; kChannels: within a pixel
    std::int64_t pixels = 0;             ///< of the result
    ConvolutionPiece convolution;
  };

  void add_rows(const ConvolutionProblem& problem, const Share& rows);
  void add(const ConvolutionProblem& problem, const ConvolutionPiece::Extent& extent,
           std::int64_t source_begin, std::int64_t destination_begin);
  void run_beside(Piece& piece, std::byte* source, std::byte* destination);

  LayerWeights& weights_;
  const std::int64_t element_;  ///< bytes
  const std::int64_t out_;
  const bool adds_;
  std::int64_t samples_ = 1;  ///< each piece runs once for each of these
  std::int64_t source_step_ = 0;
  std::int64_t destination_step_ = 0;  ///< bytes from one to the next
  std::vector<Piece> pieces_;
};

}  // namespace pareto::runtime::kernels
