// Which kernels OpenBLAS takes on processors that are newer than it.
#pragma once

#include <string_view>

namespace pareto {

/// Returns the kernels that this processor runs best, by OpenBLAS's name, if those that it took are
/// of an older one; null: they fit, or no better ones are known.
const char* kernels_instead_of(std::string_view taken);

/// Has OpenBLAS take kernels that fit this processor, in programs that are started from here: it
/// chooses when it is loaded, before main(). It knows processors by their number. On one that it
/// does not know, it takes those of 2004: OpenBLAS 0.3.21 does so on Emerald Rapids. They are four
/// times as slow, and round otherwise with each number of threads. OPENBLAS_CORETYPE stays if the
/// environment has it, and so do kernels of processors that it knows. A program that has no BLAS
/// loads OpenBLAS to ask it, which takes some milliseconds. Returns whether the environment was
/// changed.
///
/// Threads: before any is started.
bool choose_blas_kernels();

}  // namespace pareto
