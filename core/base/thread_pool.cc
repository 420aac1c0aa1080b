#include "core/base/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/cores.h"
#include "core/base/spin.h"

namespace pareto {
namespace {

thread_local ThreadPool* pool_of_thread = nullptr;

/// Pins a thread to one of the cores. Nothing is lost if the system refuses.
void pin(std::jthread& thread, int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  static_cast<void>(::pthread_setaffinity_np(thread.native_handle(), sizeof set, &set));
}

/// Returns the number of the core from which a new pool deals out cores, so that the threads of
/// several pools do not share one while another is free.
std::size_t next_first_core() {
  static std::atomic<std::size_t> pools{0};
  return pools.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t bit(int part) { return std::uint64_t{1} << part; }

}  // namespace

ThreadPool::ThreadPool(int threads, const std::function<void()>& prepare) {
  cores_ = usable_cores();
  first_core_ = next_first_core();
  spins_ = static_cast<std::size_t>(threads) <= cores_.size();
  for (int thread = 1; thread < threads; ++thread) {
    workers_.emplace_back([this, thread, prepare] {
      if (prepare) prepare();
      work(thread);
    });
  }
}

ThreadPool::~ThreadPool() {
  ending_.store(true);
  generation_.fetch_add(1);
  generation_.notify_all();
}

void ThreadPool::stand_aside() {
  const int core = ::sched_getcpu();
  if (core == callers_core_) return;
  callers_core_ = core;
  const auto found = std::find(cores_.begin(), cores_.end(), core);
  std::size_t next = found != cores_.end() ? static_cast<std::size_t>(found - cores_.begin())
                                           : first_core_ % cores_.size();
  for (std::jthread& worker : workers_) {
    next = (next + 1) % cores_.size();
    pin(worker, cores_[next]);
  }
}

void ThreadPool::run_parts(int parts, Function function, const void* context) {
  if (spins_ && parts > 1 && !workers_.empty()) stand_aside();
  ThreadPool* const pool = std::exchange(pool_of_thread, nullptr);
  function_ = function;
  context_ = context;
  unfinished_.store(parts, std::memory_order_relaxed);
  const std::uint64_t all = parts == kMostParts ? ~std::uint64_t{0} : bit(parts) - 1;
  unclaimed_.store(all, std::memory_order_release);
  if (parts > 1 && !workers_.empty()) {
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
  }
  take_parts(0);
  const auto done = [this] { return unfinished_.load(std::memory_order_acquire) == 0; };
  if (!done() && !(spins_ && spin_until(done))) {
    for (int left = unfinished_.load(); left != 0; left = unfinished_.load()) {
      unfinished_.wait(left);
    }
  }
  pool_of_thread = pool;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

bool ThreadPool::take_parts(int thread) {
  bool took = false;
  const auto claim = [&](int part) {
    const std::uint64_t before = unclaimed_.fetch_and(~bit(part), std::memory_order_acquire);
    if ((before & bit(part)) == 0) return;
    took = true;
    run_part(part);
  };
  for (int part = thread; part < kMostParts; part += threads()) {
    if ((unclaimed_.load(std::memory_order_relaxed) >> part) == 0) break;
    claim(part);
  }
  for (std::uint64_t left = unclaimed_.load(std::memory_order_relaxed); left != 0;
       left = unclaimed_.load(std::memory_order_relaxed)) {
    claim(63 - __builtin_clzll(left));
  }
  return took;
}

void ThreadPool::run_part(int part) {
  try {
    function_(context_, part);
  } catch (...) {
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
  if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_all();
}

void ThreadPool::work(int thread) {
  int seen = generation_.load(std::memory_order_acquire);
  while (!ending_.load(std::memory_order_relaxed)) {
    take_parts(thread);
    const auto has_changed = [&] { return generation_.load(std::memory_order_acquire) != seen; };
    if (!(spins_ && spin_until(has_changed))) {
      generation_.wait(seen, std::memory_order_acquire);
    }
    seen = generation_.load(std::memory_order_acquire);
  }
}

ThreadPool* current_pool() { return pool_of_thread; }

PoolScope::PoolScope(ThreadPool* pool) : before_(std::exchange(pool_of_thread, pool)) {}
PoolScope::~PoolScope() { pool_of_thread = before_; }

}  // namespace pareto
