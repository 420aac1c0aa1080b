#include "daemon/stage/slow_processor.h"

#include <algorithm>
#include <thread>

#include "core/base/cores.h"
#include "core/base/cpu_time.h"

namespace pareto::daemon {
namespace {

// Threads wake up late by less.
constexpr std::chrono::microseconds kLate{150};

void wait_until(TimePoint due) {
  std::this_thread::sleep_until(due - kLate);
  while (std::chrono::steady_clock::now() < due) {
  }
}

}  // namespace

SlowProcessor::SlowProcessor(double speed) : speed_(speed) {
  if (const auto cores = usable_cores(); !cores.empty()) cores_ = static_cast<int>(cores.size());
}

double SlowProcessor::times(int threads) const {
  return speed_ > 0 ? std::max(1.0, threads / speed_) : 1;
}

SlowProcessor::Work::Work(SlowProcessor& processor, const runtime::RunnerOptions& options)
    : processor_(processor),
      // More threads than cores have no more than these.
      times_(processor.times(std::min(options.threads, processor.cores_))),
      by_cpu_(options.threads == 1 && options.device == "cpu") {
  if (times_ == 1) return;
  begin_ = std::chrono::steady_clock::now();
  counted_ = now();
}

Nanoseconds SlowProcessor::Work::now() const {
  return by_cpu_ ? thread_cpu_time() : std::chrono::steady_clock::now().time_since_epoch();
}

void SlowProcessor::Work::count() {
  work_ += from_nanoseconds(times_ * to_nanoseconds(now() - counted_));
}

void SlowProcessor::Work::catch_up() {
  if (times_ == 1) return;
  count();
  wait_until(begin_ + work_);
  counted_ = now();
}

void SlowProcessor::Work::finish() {
  if (times_ == 1) return;
  count();
  TimePoint due;
  {
    const std::lock_guard lock(processor_.mutex_);
    due = std::max(begin_, processor_.busy_until_) + work_;
    processor_.busy_until_ = due;
  }
  wait_until(due);
}

}  // namespace pareto::daemon
