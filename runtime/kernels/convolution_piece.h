// One convolution by oneDNN on one thread: a layer on some of its samples, rows, pixels or
// channels. Internal to runtime; sees LibTorch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "runtime/kernels/layer_weights.h"
#include "runtime/kernels/packed_convolution.h"
#include "runtime/kernels/parts.h"

namespace pareto::runtime::kernels {

/// A layer at one size of input. A linear layer is the convolution of a picture one pixel high.
struct ConvolutionProblem {
  const ConvolutionSpec& spec;
  std::vector<std::int64_t> weights;  ///< sizes
  std::vector<std::int64_t> input;    ///< [batch, in, height, width]
  std::vector<std::int64_t> output;   ///< [batch, out, height, width]
  bool adds = false;                  ///< to what lies in the result already
  bool activates = false;
};

/// The rows of the input that some rows of the result need, and how far those reach past its edges.
struct Rows {
  Share input;
  std::int64_t above = 0;
  std::int64_t below = 0;
};
Rows rows_for(const ConvolutionProblem& problem, const Share& results);

/// Returns whether oneDNN can compute a layer on those rows: it needs input, and version 2.6
/// crashes where a window has no point within it.
bool is_computable(const ConvolutionProblem& problem, const Rows& rows);

/// One piece of a convolution, prepared by oneDNN for one thread.
///
/// Threads: one at a time. Throws what oneDNN throws.
class ConvolutionPiece {
 public:
  using Sizes = std::vector<std::int64_t>;

  /// Sizes of the two pictures, which lie densely with the channels innermost.
  struct Extent {
    Sizes input;
    Sizes output;
    Sizes padding_before;  ///< above, to the left
    Sizes padding_behind;
    Share channels;  ///< channels of the result
  };

  ConvolutionPiece(const ConvolutionProblem& problem, const Extent& extent, LayerWeights& weights);

  const Share& channels() const { return channels_; }
  std::size_t weight_bytes() const { return weights_.get_desc().get_size(); }
  /// Keeps its weights for good, which are some of `weights`.
  void keep_weights(LayerWeights& weights);
  void run(const void* source, void* destination);

 private:
  void set_arguments();

  Share channels_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::convolution_forward convolution_;
  dnnl::memory source_;
  dnnl::memory destination_;
  dnnl::memory scratchpad_;
  dnnl::memory weights_;
  dnnl::memory bias_;
  at::Tensor bias_tensor_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

}  // namespace pareto::runtime::kernels
