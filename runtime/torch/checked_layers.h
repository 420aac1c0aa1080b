// Layers of LibTorch whose kernels do not check what they take for granted. Sees no LibTorch.
#pragma once

namespace pareto::runtime {

/// Puts checks before these layers, as install_safe_operators() does for all others:
/// - Convolutions, pools and padding: numbers so large that their products are not.
/// - Norms: weights that lack a number for a channel, or have one in place of many.
/// - Recurrent layers (checked_recurrent.h).
/// - Bags of indices: places that lead out of their tensors.
/// - Upsampling: sizes larger than the scales make them.
/// - Attention: keys without values, or a mask of other sizes.
/// - Layers of few bits: nothing, where something is divided by its count; other numbers than their
///   weights take.
void check_layers();

}  // namespace pareto::runtime
