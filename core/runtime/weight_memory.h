// Where an engine keeps its packed weights: they are read from end to end by every request, so they lie close together on large pages, where
// the kernel grants them. No LibTorch.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

namespace pareto::runtime {

/// Given back as a whole, when it is destroyed. Threads: one owner at a time.
class WeightMemory {
 public:
  /// 64-byte aligned, uninitialised. Throws std::bad_alloc.
  std::byte* allocate(std::size_t bytes);

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::vector<std::unique_ptr<std::byte, Free>> chunks_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace pareto::runtime
