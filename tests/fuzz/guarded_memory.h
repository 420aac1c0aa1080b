// Memory of tensors in which a kernel that leaves its tensor ends the process.
#pragma once

namespace pareto::fuzz {

/// Says what lies behind the end of a tensor's pages: no memory, or a page that may be read, of
/// zeros or of ones. Kernels of OpenBLAS and XNNPACK read a few bytes there, and do not use them.
enum class Guard { kNothing, kZeros, kOnes };

/// Gives each tensor of LibTorch pages of its own from now on, and no more than 256 MiB. Every
/// other one begins with its first page, the others end with their last. No memory lies before the
/// pages.
void guard_tensors();

/// Says what lies behind tensors that are made from now on, and whether the first of them ends with
/// its last page.
void set_guard(Guard guard, bool first_at_end);

}  // namespace pareto::fuzz
