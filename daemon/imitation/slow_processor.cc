#include "daemon/imitation/slow_processor.h"

#include <algorithm>
#include <thread>

#include "core/base/cores.h"
#include "core/base/cpu_time.h"

namespace pareto::daemon {
namespace {

// Threads wake up late by less.
constexpr std::chrono::microseconds kLate{150};

// Time between two looks at whether the work was stopped. A loop of a shard looks in each round.
constexpr std::chrono::milliseconds kLook{20};

}  // namespace

SlowProcessor::SlowProcessor(double speed) : speed_(speed) {
  if (const auto cores = usable_cores(); !cores.empty()) cores_ = static_cast<int>(cores.size());
}

double SlowProcessor::times(int threads) const {
  return speed_ > 0 ? std::max(1.0, threads / speed_) : 1;
}

Nanoseconds SlowProcessor::at_pace(Nanoseconds time) const {
  return speed_ > 0 ? from_nanoseconds(to_nanoseconds(time) / speed_) : time;
}

SlowProcessor::Work::Work(SlowProcessor& processor, const runtime::RunnerOptions& options,
                          const SteadyPace* pace, std::uint64_t input_bytes)
    : processor_(processor),
      // More threads than cores have no more than these.
      times_(processor.times(std::min(options.threads, processor.cores_))),
      by_cpu_(options.threads == 1 && options.device == "cpu"),
      stop_(options.stop),
      pace_(pace),
      input_bytes_(input_bytes) {
  if (is_as_here()) return;
  begin_ = std::chrono::steady_clock::now();
  counted_ = now();
}

Nanoseconds SlowProcessor::Work::now() const {
  return by_cpu_ ? thread_cpu_time() : std::chrono::steady_clock::now().time_since_epoch();
}

void SlowProcessor::Work::wait_until(TimePoint due) const {
  const TimePoint almost = due - kLate;
  for (TimePoint now = std::chrono::steady_clock::now(); now < almost;
       now = std::chrono::steady_clock::now()) {
    if (stop_ && *stop_) return;
    std::this_thread::sleep_until(stop_ ? std::min<TimePoint>(almost, now + kLook) : almost);
  }
  while (std::chrono::steady_clock::now() < due) {
  }
}

Nanoseconds SlowProcessor::Work::time_there(std::optional<std::size_t> output) {
  computed_ += now() - counted_;
  if (pace_ == nullptr) return from_nanoseconds(times_ * to_nanoseconds(computed_));
  return processor_.at_pace(output ? pace_->until(*output, input_bytes_)
                                   : pace_->whole(input_bytes_));
}

void SlowProcessor::Work::catch_up(std::size_t output) {
  if (is_as_here()) return;
  wait_until(begin_ + time_there(output));
  counted_ = now();
}

Expected<> SlowProcessor::Work::finish() {
  if (is_as_here()) return {};
  const Nanoseconds work = time_there(std::nullopt);
  TimePoint due;
  {
    const std::lock_guard lock(processor_.mutex_);
    due = std::max(begin_, processor_.busy_until_) + work;
    processor_.busy_until_ = due;
  }
  wait_until(due);
  if (stop_ && *stop_) return fail(ErrorCode::kClosed, "it was stopped");
  return {};
}

}  // namespace pareto::daemon
