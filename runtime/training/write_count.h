// Bounds how often one pass writes in place. Sees LibTorch: for runtime sources only.
#pragma once

#include <torch/script.h>

#include <cstdint>

namespace pareto::runtime {

/// LibTorch keeps each write to a view as a link of a chain, and frees that chain by recursion: a
/// stack of 8 MiB is enough for 60,000 of them, and not for 100,000.
inline constexpr std::int64_t kMostWrites = 30'000;

/// Counts the writes of this thread from 0, for as long as it exists. Threads: one.
class WriteCountScope {
 public:
  WriteCountScope();
  ~WriteCountScope();
  WriteCountScope(const WriteCountScope&) = delete;
  WriteCountScope& operator=(const WriteCountScope&) = delete;

 private:
  std::int64_t count_ = 0;
  std::int64_t* const before_;
};

/// Makes a graph count its writes to tensors as it begins, and as each turn of a loop does. It
/// throws if they are more than kMostWrites. To be called after all passes: they take the count for
/// something that may write anywhere.
void insert_write_counts(torch::jit::Graph& graph);

}  // namespace pareto::runtime
