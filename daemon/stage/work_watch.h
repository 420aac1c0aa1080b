// Deadlines for work that cannot be waited for with a deadline: loading a shard, and computing.
//
//   begin(limit) ──limit──▶ its loops shall stop ──grace──▶ it is stuck: the daemon is informed
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

/// Times that work may take.
struct WorkLimits {
  Nanoseconds load = std::chrono::minutes(10);    ///< loading a shard with all engines
  Nanoseconds request = std::chrono::minutes(5);  ///< computing one request
  /// A load keeps others waiting for this long; then they go on at the same time.
  Nanoseconds turn = std::chrono::seconds(30);
  /// Work that was told to stop has this long before it counts as stuck.
  Nanoseconds grace = std::chrono::seconds(10);
};

/// Ends work that takes too long, and reports work that does not end.
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
    /// Begins work. `what` names it, for example "a request of shard resnet50 [0, 41)". `what` and
    /// the watch outlive the task. `stop` becomes true when the limit has passed. The work then has
    /// the longer of `grace` and WorkLimits::grace before it counts as stuck.
    Task(WorkWatch& watch, std::string_view what, Nanoseconds limit, StopFlag stop,
         Nanoseconds grace = {});
    ~Task();
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;

    /// Stops counting the time against the limit, until go_on().
    void hold();
    void go_on();
    /// Returns whether it was told to stop because its limit has passed.
    bool overdue() const { return overdue_; }

   private:
    friend class WorkWatch;
    WorkWatch& watch_;
    const std::string_view what_;
    const Nanoseconds limit_;
    const StopFlag stop_;
    const Nanoseconds grace_;
    TimePoint due_;  ///< time to stop it; later, time to report it
    std::optional<TimePoint> held_since_;
    bool told_ = false;
    std::atomic<bool> overdue_{false};
  };

 private:
  void watch();
  /// Looks again when that task is due. The caller holds mutex_.
  void look_at(TimePoint due);
  /// Stops the tasks that are due, sets the time of the next look, and returns the names of stuck
  /// tasks.
  std::vector<std::string> look();

  const WorkLimits limits_;
  const OnStuck on_stuck_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  std::vector<Task*> tasks_;
  std::optional<TimePoint> next_look_;  ///< empty: not before a task begins
  std::jthread watching_;
};

}  // namespace pareto::daemon
