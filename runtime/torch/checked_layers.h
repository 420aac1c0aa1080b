// Layers of LibTorch whose kernels do not check what they take for granted. Sees no LibTorch.
#pragma once

namespace pareto::runtime {

/// Puts checks before these layers, as install_safe_operators() does for all others:
/// - Convolutions, pools and padding: numbers so large that their products are not.
/// - Norms: weights that lack a number for a channel, or have one in place of many.
/// - Eigenvalues: numbers that are not finite.
/// - Recurrent layers (checked_recurrent.h).
/// - Bags of indices: places that lead out of their tensors.
/// - Layers of pictures (checked_pictures.h).
/// - Losses: no classes, or a weight that is not there for each.
/// - Transposed convolutions: steps without end.
/// - Attention: keys without values, or a mask of other sizes.
/// - Layers of few bits: nothing, although something is divided by its count; what QNNPACK does not
///   check (checked_few_bits.h).
void check_layers();

}  // namespace pareto::runtime
