// Devices that a model's code names. Sees LibTorch: for sources of runtime and
// partitioner/model/graph only.
#pragma once

#include <torch/script.h>

namespace pareto::runtime {

/// Replaces every device that the code of a loaded module names, in all its methods and functions.
/// A model that was saved on a GPU says "cuda:0" in its code, too. May throw what LibTorch throws.
void map_devices(const torch::jit::Module& module, c10::Device device);

}  // namespace pareto::runtime
