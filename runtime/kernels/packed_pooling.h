// Pooling of pictures whose channels are the innermost dimension, by oneDNN. Sees LibTorch: for
// runtime sources only.
#pragma once

#include <torch/script.h>

#include <memory>
#include <vector>

namespace pareto::runtime::kernels {

struct PoolingSpec {
  enum class Kind {
    kMax,
    kAverage,  ///< average over the whole window, its part in the padding included
  };
  Kind kind = Kind::kMax;
  std::vector<std::int64_t> kernel;  ///< height, width
  std::vector<std::int64_t> stride;
  std::vector<std::int64_t> padding;
  bool ceil = false;  ///< a window that reaches past the end counts; kMax only
};

/// A pooling, prepared by oneDNN for the sizes of pictures that come.
///
/// Threads: one at a time. Throws c10::Error, and what oneDNN throws.
class PackedPooling final : public torch::CustomClassHolder {
 public:
  explicit PackedPooling(PoolingSpec spec);
  ~PackedPooling() override;

  /// Pools `input`: [batch, channels, height, width], float32 or bfloat16.
  at::Tensor run(const at::Tensor& input);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns the operator that runs one inside a graph: (Tensor input, Any capsule of a
/// PackedPooling) -> Tensor. Known to LibTorch from the first call on.
c10::Symbol packed_pooling_symbol();

}  // namespace pareto::runtime::kernels
