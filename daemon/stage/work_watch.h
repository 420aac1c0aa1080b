// Deadlines for what cannot be waited for with one: a shard that is loaded, or that computes.
//
//   begin(limit) ──limit──▶ its loops are told to stop ──grace──▶ it can't be ended: the daemon is told
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/clock.h"

namespace pareto::daemon {

struct WorkLimits {
  Nanoseconds load = std::chrono::minutes(10);    ///< of a shard, all engines
  Nanoseconds request = std::chrono::minutes(5);  ///< computing one
  /// How long a load keeps others waiting; then they go on beside it.
  Nanoseconds turn = std::chrono::seconds(30);
  /// What work that was told to stop is given before it counts as stuck.
  Nanoseconds grace = std::chrono::seconds(10);
};

/// Ends work that takes too long, and tells of work that does not end.
///
/// Threads: any.
class WorkWatch {
 public:
  using StopFlag = std::shared_ptr<std::atomic<bool>>;
  /// Called once for each work that is stuck, from the watch's own thread.
  using OnStuck = std::function<void(const std::string& what)>;

  explicit WorkWatch(const WorkLimits& limits, OnStuck on_stuck = nullptr);
  ~WorkWatch();
  WorkWatch(const WorkWatch&) = delete;
  WorkWatch& operator=(const WorkWatch&) = delete;

  const WorkLimits& limits() const { return limits_; }

  /// Work under way, from construction to destruction. Threads: one.
  class Task {
   public:
    /// `what` names it, as in "a request of shard resnet50 [0, 41)"; it and the watch outlive the task. `stop` becomes true when the
    /// limit has passed.
    Task(WorkWatch& watch, std::string_view what, Nanoseconds limit, StopFlag stop);
    ~Task();
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;

    /// Whether it was told to stop because its limit has passed.
    bool overdue() const { return overdue_; }

   private:
    friend class WorkWatch;
    WorkWatch& watch_;
    const std::string_view what_;
    const Nanoseconds limit_;
    const StopFlag stop_;
    TimePoint due_;  ///< to stop, and then to be told of
    bool told_ = false;
    std::atomic<bool> overdue_{false};
  };

 private:
  void watch();
  /// Stops what is due; returns what is stuck. Sets when to look next.
  std::vector<std::string> look();

  const WorkLimits limits_;
  const OnStuck on_stuck_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  std::vector<Task*> tasks_;
  std::optional<TimePoint> next_look_;  ///< none: only when a task begins
  std::jthread watching_;
};

}  // namespace pareto::daemon
