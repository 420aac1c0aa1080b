#include "daemon/control/lease_watch.h"

#include <algorithm>
#include <chrono>

namespace pareto::daemon {
namespace {

/// Time between two judgements of sessions: short against a lease.
constexpr Nanoseconds kEvery = std::chrono::milliseconds(250);

}  // namespace

LeaseWatch::LeaseWatch(SessionTable& sessions)
    : sessions_(sessions), watching_([this] { watch(); }) {}

LeaseWatch::~LeaseWatch() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
  ended_.notify_all();
}

void LeaseWatch::watch() {
  std::unique_lock lock(mutex_);
  TimePoint last = std::chrono::steady_clock::now();
  while (!ended_.wait_for(lock, kEvery, [this] { return ending_; })) {
    const TimePoint now = std::chrono::steady_clock::now();
    // A process that was stopped, or had no processor, has heard nobody.
    const Nanoseconds late = now - last - kEvery;
    sessions_.judge(now, late > kEvery ? late : Nanoseconds(0));
    last = now;
  }
}

}  // namespace pareto::daemon
