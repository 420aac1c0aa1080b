// A convolution by oneDNN for one size of input, cut into pieces for the threads of a pool. Each
// piece is a convolution of its own on one thread. Internal to core/runtime; sees LibTorch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <vector>

#include "core/runtime/kernels/convolution_methods.h"
#include "core/runtime/kernels/layer_weights.h"
#include "core/runtime/kernels/packed_convolution.h"
#include "core/runtime/kernels/parts.h"

namespace pareto::runtime {

/// A layer at one size of input. A linear layer is the convolution of a picture one pixel high.
struct ConvolutionProblem {
  const ConvolutionSpec& spec;
  std::vector<std::int64_t> weights;  ///< sizes
  std::vector<std::int64_t> input;    ///< [batch, in, height, width]
  std::vector<std::int64_t> output;   ///< [batch, out, height, width]
  bool adds = false;                  ///< to what lies in the result already
  bool activates = false;
};

/// Returns the cuts among which the fastest is, for a number of threads; at least one.
std::vector<Cut> promising_cuts(const ConvolutionProblem& problem, int threads);

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
  using memory = dnnl::memory;
  using Sizes = std::vector<std::int64_t>;

  /// Padding above and to the left, and behind.
  struct Padding {
    Sizes before;
    Sizes after;
  };
  struct Piece {
    std::int64_t source_begin = 0;       ///< bytes from the beginning
    std::int64_t destination_begin = 0;  ///< the same; kChannels: within a pixel
    Share channels;                      ///< of the result
    std::int64_t pixels = 0;             ///< of the result
    dnnl::convolution_forward convolution;
    memory source;
    memory destination;
    memory scratchpad;
    std::unordered_map<int, memory> arguments;
  };

  void add_rows(const ConvolutionProblem& problem, const Share& rows);
  void add(const ConvolutionProblem& problem, const Sizes& input, const Sizes& output,
           const Padding& padding, const Share& channels, std::int64_t source_begin,
           std::int64_t destination_begin);
  dnnl::convolution_forward::primitive_desc describe(const ConvolutionProblem& problem,
                                                     const memory::desc& source,
                                                     const memory::desc& destination,
                                                     const Padding& padding,
                                                     const Share& channels) const;
  /// Returns weights in a layout: those of another piece, where it has the same.
  memory packed(const memory::desc& layout, const Share& channels);
  void run_beside(Piece& piece, std::byte* source, std::byte* destination);
  void execute(Piece& piece, std::byte* source, std::byte* destination);

  LayerWeights& weights_;
  const std::int64_t element_;  ///< bytes
  const std::int64_t out_;
  const bool adds_;
  std::int64_t samples_ = 1;  ///< each piece runs once for each of these
  std::int64_t source_step_ = 0;
  std::int64_t destination_step_ = 0;  ///< bytes from one to the next
  dnnl::engine engine_;
  std::vector<Piece> pieces_;
};

}  // namespace pareto::runtime
