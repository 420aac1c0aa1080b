// Operators that LibTorch compiles into one. Sees no LibTorch.
#pragma once

namespace pareto::runtime {

/// Has LibTorch run each operator by its own kernel, in the whole process. If it was built with
/// LLVM, as Debian 13's is, it compiles operators that follow each other into one after a few runs.
/// Results are rounded otherwise then: a cut model would not have the whole one's bits. Engines do
/// such things, and are compared. Threads: any.
void keep_operators_apart();

}  // namespace pareto::runtime
