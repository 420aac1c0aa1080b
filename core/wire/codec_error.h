// Loss of precision by a codec: a decoded tensor against the original.
#pragma once

#include "core/tensor/tensor.h"

namespace pareto::wire {

/// The errors of a codec, both relative to the largest magnitude of the original: 0.01 is one
/// hundredth of it.
struct CodecError {
  double max = 0;
  double mean = 0;
};

/// Returns the error of a decoded tensor. Numbers with the same bits, or both NaN, do not differ.
/// The error is infinite in these cases:
/// - One number is NaN or infinite, and the other is not the same.
/// - Dtype or shape differ.
/// - The dtype is not float32, and the tensors are not equal bit for bit.
/// - All of the original is zero, and the decoded is not.
/// Threads: any.
CodecError codec_error(const Tensor& original, const Tensor& decoded);

}  // namespace pareto::wire
