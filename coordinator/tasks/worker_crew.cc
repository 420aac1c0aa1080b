#include "coordinator/tasks/worker_crew.h"

#include <pthread.h>
#include <sched.h>

#include "core/base/cores.h"

namespace pareto::tasks {
namespace {

/// Pins a thread to a core. Nothing is lost if the system refuses.
void pin_to(std::jthread& thread, int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  static_cast<void>(::pthread_setaffinity_np(thread.native_handle(), sizeof set, &set));
}

}  // namespace

WorkerCrew::WorkerCrew(std::size_t workers, Cores cores) {
  const std::vector<int> usable = usable_cores();
  for (std::size_t worker = 0; worker < workers; ++worker) {
    threads_.emplace_back([this, worker](const std::stop_token& stop) { serve(stop, worker); });
    if (cores == Cores::kPinned && !usable.empty()) {
      pin_to(threads_.back(), usable[worker % usable.size()]);
    }
  }
}

void WorkerCrew::run(const std::function<void(std::size_t)>& work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  unfinished_ = threads_.size();
  ++generation_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return unfinished_ == 0; });
  work_ = nullptr;
}

void WorkerCrew::serve(const std::stop_token& stop, std::size_t worker) {
  std::unique_lock lock(mutex_);
  for (std::uint64_t seen = 0;;) {
    if (!changed_.wait(lock, stop, [&] { return generation_ != seen; })) return;
    seen = generation_;
    const auto& work = *work_;
    lock.unlock();
    work(worker);
    lock.lock();
    if (--unfinished_ == 0) changed_.notify_all();
  }
}

}  // namespace pareto::tasks
