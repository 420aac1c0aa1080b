// Recurrent layers of LibTorch, whose kernels take the sizes of weights and states for granted.
// Sees no LibTorch.
#pragma once

namespace pareto::runtime {

/// Puts checks before LSTMs, GRUs and plain recurrent layers, their cells, and those of few bits:
/// - States are of as many layers, samples and numbers as the layer has.
/// - Each weight has a row for each number of each gate, and a column for each that it takes.
/// - Batch sizes of packed sequences only fall.
void check_recurrent_layers();

}  // namespace pareto::runtime
