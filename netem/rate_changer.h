// Changes the rate of a link in the kernel when its trace says so.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "core/base/error.h"
#include "core/plan/condition.h"
#include "netem/trace.h"

namespace pareto::netem {

/// Returns the direction with the delay and the rate that its trace begins with.
plan::LinkDirection at_first(plan::LinkDirection direction);

/// Time begins when it is made; the direction as it is at first has been put in place by then.
///
/// Threads: its own, only where something changes; the destructor ends it. check() from any.
class RateChanger {
 public:
  enum class Follows { kRate, kRateAndDelay };
  /// Puts the direction in place, its delay and rate as they are now. Runs on the changer's thread,
  /// which is in the network namespace of the maker's.
  using Apply = std::function<Expected<>(const plan::LinkDirection& now)>;

  RateChanger(const plan::LinkDirection& direction, Follows follows, Apply apply);
  /// Ends the changes. Not inline: g++ 14 takes the thread of an empty optional for an
  /// uninitialised one.
  ~RateChanger();
  RateChanger(const RateChanger&) = delete;
  RateChanger& operator=(const RateChanger&) = delete;

  /// Fails, as `apply` first did.
  Expected<> check() const;

 private:
  void run(const std::stop_token& stop);
  /// Takes what it follows of the state; returns whether that is news.
  bool take(const Trace::State& state);

  plan::LinkDirection direction_;  ///< direction as it is now
  const Trace trace_;
  const Follows follows_;
  const Apply apply_;
  const TimePoint start_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  std::condition_variable_any stopped_;
  Expected<> failure_;   ///< guarded by mutex_
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace pareto::netem
