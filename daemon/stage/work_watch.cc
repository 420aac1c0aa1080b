#include "daemon/stage/work_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pareto::daemon {
WorkWatch::WorkWatch(const WorkLimits& limits, OnStuck on_stuck)
    : limits_(limits), on_stuck_(std::move(on_stuck)), watching_([this] { watch(); }) {}

WorkWatch::~WorkWatch() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

WorkWatch::Task::Task(WorkWatch& watch, std::string_view what, Nanoseconds limit, StopFlag stop,
                      Nanoseconds grace)
    : watch_(watch),
      what_(what),
      limit_(limit),
      stop_(std::move(stop)),
      grace_(std::max(grace, watch.limits_.grace)),
      due_(*deadline_after(limit)) {
  const std::lock_guard lock(watch_.mutex_);
  watch_.tasks_.push_back(this);
  watch_.look_at(due_);
}

void WorkWatch::Task::hold() {
  const std::lock_guard lock(watch_.mutex_);
  held_since_ = now();
}

void WorkWatch::Task::go_on() {
  const std::lock_guard lock(watch_.mutex_);
  due_ += now() - *std::exchange(held_since_, std::nullopt);
  watch_.look_at(due_);
}

void WorkWatch::look_at(TimePoint due) {
  // Limits differ little. Most often the watch looks before this task is due, and need not be
  // woken.
  if (next_look_ && *next_look_ <= due) return;
  next_look_ = due;
  changed_.notify_all();
}

WorkWatch::Task::~Task() {
  const std::lock_guard lock(watch_.mutex_);
  std::erase(watch_.tasks_, this);
}

void WorkWatch::watch() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    const std::vector<std::string> stuck = look();
    if (!stuck.empty() && on_stuck_) {
      lock.unlock();
      for (const std::string& what : stuck) on_stuck_(what);
      lock.lock();
    }
    const auto planned = next_look_;
    const auto woken = [&] { return closed_ || next_look_ != planned; };
    if (planned) {
      changed_.wait_until(lock, *planned, woken);
    } else {
      changed_.wait(lock, woken);
    }
  }
}

std::vector<std::string> WorkWatch::look() {
  std::vector<std::string> stuck;
  next_look_.reset();
  for (Task* const task : tasks_) {
    if (task->told_ || task->held_since_) continue;
    if (task->due_ <= now()) {
      if (task->overdue_) {
        task->told_ = true;
        stuck.push_back(
            fmt::format("{} takes longer than {:.3g} s, and did not stop when it was told to",
                        task->what_, to_seconds(task->limit_)));
        continue;
      }
      task->overdue_ = true;
      if (task->stop_) *task->stop_ = true;
      task->due_ = now() + task->grace_;
    }
    next_look_ = next_look_ ? std::min(*next_look_, task->due_) : task->due_;
  }
  return stuck;
}

}  // namespace pareto::daemon
