// Pictures from one order of dimensions and precision into another. Sees LibTorch: for runtime
// sources only.
#pragma once

#include <torch/script.h>

#include <memory>

namespace pareto::runtime::kernels {

/// Changes of layout as oneDNN does them, several times faster than ATen's; what it does not know
/// is left to ATen.
///
/// Threads: one at a time. Throws what LibTorch and oneDNN throw.
class LayoutChange {
 public:
  LayoutChange();
  ~LayoutChange();
  LayoutChange(const LayoutChange&) = delete;
  LayoutChange& operator=(const LayoutChange&) = delete;

  /// Returns the tensor with its bytes in that order and type; itself where they are so already.
  at::Tensor apply(const at::Tensor& tensor, at::MemoryFormat format, at::ScalarType type);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::runtime::kernels
