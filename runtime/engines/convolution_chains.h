// Finds the blocks of mobile networks in a graph of packed convolutions, and makes one operator of
// each. Sees LibTorch: for runtime sources only.
#pragma once

#include <torch/script.h>

#include <memory>
#include <vector>

namespace pareto::runtime {

/// Replaces blocks by chains (convolution_chain.h). `packed`: the values of the graph's last
/// inputs; those of chains are added, and those that nothing reads any more are left out of both.
void chain_convolutions(const std::shared_ptr<torch::jit::Graph>& graph,
                        std::vector<c10::IValue>& packed);

}  // namespace pareto::runtime
