#include "core/runtime/torch/threads.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>

namespace pareto::runtime {

void set_thread_count(int count) {
  if (at::get_num_threads() != count) at::set_num_threads(count);
  // Looked up at run time: another LibTorch may come with another BLAS.
  using SetThreads = void (*)(int);
  static const auto set_blas =
      reinterpret_cast<SetThreads>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set_blas != nullptr) set_blas(count);
}

void seed_random_numbers(std::uint64_t seed) { at::manual_seed(seed); }

}  // namespace pareto::runtime
