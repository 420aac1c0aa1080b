// Operators of LibTorch that see the bytes of a tensor otherwise, or make one of another kind. Sees
// no LibTorch.
#pragma once

namespace pareto::runtime {

/// Puts checks before operators that
/// - see a tensor with sizes, strides and an offset of its own: a product of them may be too large
///   to be a number, and then leads in front of the tensor;
/// - see its bytes as other numbers, or quantise it;
/// - repeat or select what is in it, or take differences: counts, indices and spacings must be
///   those that they take;
/// - take a kind of number, of layout or of memory format as a number: there must be such a kind,
///   and no layout but strided;
/// - take whole numbers: those near the least one lead LibTorch 1.13 to any place in memory.
void check_tensor_operators();

}  // namespace pareto::runtime
