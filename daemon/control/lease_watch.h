// Ends the sessions of coordinators that are gone and whose connection does not say so: stopped, or
// behind a network that is cut.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "daemon/control/session_table.h"

namespace pareto::daemon {

/// Judges sessions again and again until it ends. Threads: one of its own.
class LeaseWatch {
 public:
  /// The table outlives it.
  explicit LeaseWatch(SessionTable& sessions);
  ~LeaseWatch();
  LeaseWatch(const LeaseWatch&) = delete;
  LeaseWatch& operator=(const LeaseWatch&) = delete;

 private:
  void watch();

  SessionTable& sessions_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ending_ = false;
  std::jthread watching_;  // last: it uses all of the above
};

}  // namespace pareto::daemon
