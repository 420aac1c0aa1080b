// The threads that workers run on.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace pareto::tasks {

/// A thread for each worker. Between pieces of work they sleep; the destructor ends them.
///
/// Threads: one owner.
class WorkerCrew {
 public:
  enum class Cores {
    kPinned,  ///< each thread has a core; more threads than cores share them
    kAny,     ///< the system moves threads as it likes
  };
  /// Throws std::system_error if the machine has no thread left.
  WorkerCrew(std::size_t workers, Cores cores);
  WorkerCrew(const WorkerCrew&) = delete;
  WorkerCrew& operator=(const WorkerCrew&) = delete;

  std::size_t size() const { return threads_.size(); }
  /// Calls work(0) … work(size - 1), each on its own thread, and returns when all are done. Calls
  /// must not throw.
  void run(const std::function<void(std::size_t)>& work);

 private:
  void serve(const std::stop_token& stop, std::size_t worker);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  const std::function<void(std::size_t)>* work_ = nullptr;  ///< under the mutex, as all below
  std::uint64_t generation_ = 0;
  std::size_t unfinished_ = 0;
  std::vector<std::jthread> threads_;  // last: they use all of the above
};

}  // namespace pareto::tasks
