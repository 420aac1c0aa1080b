// Where links come in: one listener, the thread that accepts, and the short conversations with those that have not said who they are.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/control/hello.h"
#include "core/transport/transport.h"

namespace pareto::daemon {

/// Takes a link that said hello and answers kReady on it; it may wait until the deadline for the stage to be opened. An error is
/// told to the peer, then the link is closed.
using Greeter = std::function<Expected<>(const control::Hello& hello,
                                         std::unique_ptr<transport::Link>& link, TimePoint)>;

/// A peer that is slow to say hello, or says it wrong, delays nobody else: each has a thread of its own until its deadline, and there
/// is a bound on their number. Probes of the link are answered here, and count among them.
///
/// Threads: constructed and destroyed by one owner; close() from any.
class LinkDoor {
 public:
  static constexpr std::size_t kMaxPending = 64;

  LinkDoor(std::unique_ptr<transport::Listener> listener, Greeter greeter,
           Nanoseconds hello_timeout);
  /// Closes and joins.
  ~LinkDoor();
  LinkDoor(const LinkDoor&) = delete;
  LinkDoor& operator=(const LinkDoor&) = delete;

  std::string address() const { return listener_->address(); }
  /// Accepts no more, and hangs up on those that have not been matched.
  void close();

 private:
  struct Pending {
    std::unique_ptr<transport::Link> link;  ///< guarded by mutex_; null once matched
    std::atomic<bool> done{false};
    std::jthread thread;
  };

  void accept_links();
  void admit(std::unique_ptr<transport::Link> link);
  void greet(Pending& pending, transport::Link& link);
  /// It is the caller's then.
  std::unique_ptr<transport::Link> take_link(Pending& pending);

  const std::unique_ptr<transport::Listener> listener_;
  const Greeter greeter_;
  const Nanoseconds hello_timeout_;
  std::mutex mutex_;
  std::condition_variable closing_;
  bool closed_ = false;
  std::list<Pending> pending_;
  std::jthread accepting_;
};

}  // namespace pareto::daemon
