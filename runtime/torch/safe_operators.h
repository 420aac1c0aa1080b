// Operators of LibTorch on numbers and lists that would end the process on some values. Sees no
// LibTorch.
#pragma once

namespace pareto::runtime {

/// Puts a check before these operators, once in a process; from then on they throw:
/// - Whole numbers, in tensors too: a division by 0, and one of the least number by −1.
/// - Padding and sizes of a few layers: lists that are shorter than the layer takes for granted.
/// - Sorting a list: NaN, tensors and tuples have no order, and std::sort leaves the list.
/// - Layers (checked_layers.h), and what sees or makes tensors otherwise (checked_tensors.h).
///
/// Threads: any. To be called before code of others is loaded: loading folds constants.
void install_safe_operators();

}  // namespace pareto::runtime
