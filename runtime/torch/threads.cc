#include "runtime/torch/threads.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>

#include <chrono>
#include <thread>

#include "core/base/cpu_time.h"

namespace pareto::runtime {
namespace {

// Looked up at run time: another LibTorch may come with another OpenMP or BLAS, or with none.
template <typename Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

/// Sets the calling thread's count in OpenMP, of which LibTorch's count is a view.
void set_open_mp(int count) {
  static const auto set = find<void(int)>("omp_set_num_threads");
  if (set != nullptr) set(count);
}

/// Sets LibTorch's count as LibTorch does, but for its pool of threads for mobile devices. That
/// would start new threads each time, which spin for milliseconds where others would work.
void set_torch(int count) {
  // Asked for first: LibTorch sets a count of its own when a thread asks for the first time.
  if (at::get_num_threads() == count) return;
  set_open_mp(count);
  if (at::get_num_threads() != count) return at::set_num_threads(count);
  // at::native::mkldnn::clear_computation_cache(), which no header declares, and LibTorch 1.13 has
  // not: it frees what oneDNN made for another number of threads.
  static const auto clear = find<void()>("_ZN2at6native6mkldnn23clear_computation_cacheEv");
  if (clear != nullptr) clear();
}

}  // namespace

void set_thread_count(int count) {
  set_torch(count);
  static const auto set_blas = find<void(int)>("openblas_set_num_threads");
  if (set_blas != nullptr) set_blas(count);
}

void let_work_alone() { set_torch(1); }

OneThread::OneThread() : before_(at::get_num_threads()) {
  if (before_ != 1) set_open_mp(1);
}

OneThread::~OneThread() {
  if (before_ != 1) set_open_mp(before_);
}

void await_idle_threads() {
  constexpr std::chrono::milliseconds kStep{1};
  constexpr int kMostSteps = 100;
  const auto of_others = [] { return process_cpu_time() - thread_cpu_time(); };
  for (int step = 0; step < kMostSteps; ++step) {
    const Nanoseconds before = of_others();
    std::this_thread::sleep_for(kStep);
    if (of_others() - before < kStep / 10) return;
  }
}

void seed_random_numbers(std::uint64_t seed) { at::manual_seed(seed); }

}  // namespace pareto::runtime
