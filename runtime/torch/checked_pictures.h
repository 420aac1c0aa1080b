// Layers of pictures, whose kernels take sizes and scales for granted. Sees no LibTorch.
#pragma once

namespace pareto::runtime {

/// Puts checks before pools, padding and upsampling:
/// - An input has the dimensions of a picture, with or without one for samples.
/// - There is a scale for each dimension, and no size is larger than the scales make it.
void check_layers_of_pictures();

}  // namespace pareto::runtime
