// Layers of few bits, whose kernels check less than others. Sees no LibTorch.
#pragma once

#include <array>

namespace pareto::runtime {

/// Operators that pack the weights of convolutions.
inline constexpr std::array kPackingOperators{"quantized::conv_prepack",
                                              "quantized::conv1d_prepack",
                                              "quantized::conv2d_prepack",
                                              "quantized::conv3d_prepack",
                                              "quantized::conv_transpose1d_prepack",
                                              "quantized::conv_transpose2d_prepack"};

/// Puts checks before layers of few bits:
/// - An input has something in each sample.
/// - A tensor takes float32 numbers only.
/// - Weights have something in them, and a scale for each output if they have several. A bias is of
///   plain numbers.
/// - With QNNPACK, a linear layer takes as many numbers as its input has.
/// - With XNNPACK, which QNNPACK has int8 inputs run by, scales are not so far apart that it ends
///   the process.
void check_layers_of_few_bits();

}  // namespace pareto::runtime
