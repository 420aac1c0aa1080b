// Layers of LibTorch whose kernels do not check what they take for granted. Sees no LibTorch.
#pragma once

namespace pareto::runtime {

/// Puts checks before these layers, as install_safe_operators() does for all others:
/// - Convolutions, pools and padding: numbers so large that their products are not.
/// - Norms: weights that lack a number for a channel, or have one in place of many.
/// - Packed sequences and bags of indices: counts and places that lead out of their tensors.
/// - LSTMs: two states of different layers.
/// - Upsampling: sizes larger than the scales make them.
/// - Attention and layers of few bits: nothing, where something is divided by its count.
void check_layers();

}  // namespace pareto::runtime
