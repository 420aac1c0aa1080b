// Threads that share one piece of work: the pieces of a layer, or the workers of a schedule.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace pareto {

/// A fixed number of threads, of which the caller is one. Between pieces of work they look for the
/// next one for some 30 µs, then they sleep and cost nothing. Each started thread is pinned to a
/// core if there are as many cores.
///
/// Threads: run() from one thread at a time.
class ThreadPool {
 public:
  /// Most parts of one run().
  static constexpr int kMostParts = 64;

  /// threads: 1 … kMostParts; all but the caller's are started. `prepare` is called once on each
  /// started thread, before its first part. Throws std::system_error if the machine has no thread
  /// left.
  explicit ThreadPool(int threads, const std::function<void()>& prepare = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls work(0) … work(parts - 1) and returns when all are done. Part i is meant for thread
  /// i % threads(); one that has nothing left takes what others have not begun. If there are no
  /// more parts than threads, all of them run at the same time, and may wait for each other.
  /// Rethrows what the first part
  /// threw that failed; the others are run nevertheless.
  /// parts: 1 … kMostParts.
  template <typename Work>
  void run(int parts, const Work& work) {
    run_parts(
        parts, [](const void* context, int part) { (*static_cast<const Work*>(context))(part); },
        &work);
  }

 private:
  using Function = void (*)(const void* context, int part);

  void run_parts(int parts, Function function, const void* context);
  /// Pins the started threads to other cores than the caller's, if that has changed: a thread that
  /// shares its core with the caller computes nothing meanwhile.
  void stand_aside();
  void work(int thread);
  /// Runs parts that nobody has begun, those of `thread` first; returns whether there was one.
  bool take_parts(int thread);
  void run_part(int part);

  /// Bits of the parts that nobody has begun. What stands below belongs to them: it is written
  /// before bits are set, and not before all parts of the last run were done.
  std::atomic<std::uint64_t> unclaimed_{0};
  std::atomic<int> unfinished_{0};
  Function function_ = nullptr;
  const void* context_ = nullptr;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;

  std::atomic<int> generation_{0};  ///< changes with each run, and at the end
  std::atomic<bool> ending_{false};
  bool spins_ = true;
  std::vector<int> cores_;
  std::size_t first_core_ = 0;  ///< index from which cores are dealt to a caller outside them
  int callers_core_ = -1;
  std::vector<std::jthread> workers_;
};

/// Returns the pool that work of this thread may be shared with; null: it has none. Parts of a run
/// have none.
ThreadPool* current_pool();

/// Makes a pool the calling thread's current one, for as long as it exists.
/// Threads: one.
class PoolScope {
 public:
  explicit PoolScope(ThreadPool* pool);
  ~PoolScope();
  PoolScope(const PoolScope&) = delete;
  PoolScope& operator=(const PoolScope&) = delete;

 private:
  ThreadPool* const before_;
};

/// Calls work(0) … work(parts - 1) by the current pool, or one after the other.
template <typename Work>
void share(int parts, const Work& work) {
  if (ThreadPool* const pool = current_pool(); pool != nullptr && parts > 1) {
    return pool->run(parts, work);
  }
  for (int part = 0; part < parts; ++part) work(part);
}

}  // namespace pareto
