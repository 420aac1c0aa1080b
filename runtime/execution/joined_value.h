// Values that parts of a batch make and the whole batch is asked for. Sees LibTorch: for
// runtime sources only.
#pragma once

#include <torch/script.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/execution/output_place.h"

namespace pareto::runtime {

/// A value that parts make and the whole batch is asked for. Parts make it in their rows of one
/// tensor, once it is known how large that is.
struct JoinedValue {
  explicit JoinedValue(std::size_t parts) : places(parts), placed(parts, 0) {}

  std::vector<OutputPlace> places;  ///< one a part
  /// The form of the whole tensor, as the run before put it together. Sizes are empty before.
  std::vector<std::int64_t> sizes{};
  std::vector<std::int64_t> strides{};
  at::TensorOptions options{};
  // The state of the run that goes on:
  at::Tensor whole{};        ///< undefined if its form is not known
  std::vector<char> placed;  ///< by part, whether its rows lie there

  /// Returns whether all parts of this run made their rows in place.
  bool is_placed() const;
  /// Returns the whole value: in place, or put together from a copy of each part's tensor.
  at::Tensor put_together(const std::vector<c10::IValue>& pieces);
  /// Makes a new tensor like that of the run before, for parts to make their rows in.
  void renew();
};

}  // namespace pareto::runtime
