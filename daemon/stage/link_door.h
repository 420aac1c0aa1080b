// Accepts links of one listener, on a thread of its own. Talks to each peer until it has said who
// it is.
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

/// Takes a link that said hello, and answers kReady on it. It may wait until the deadline for the
/// stage to be opened. An error is sent to the peer, and the link is then closed.
using Greeter = std::function<Expected<>(const control::Hello& hello,
                                         std::unique_ptr<transport::Link>& link, TimePoint)>;

/// Greets peers of one listener. A peer that is slow to say hello, or says it wrong, delays nobody
/// else: each has a thread of its own until its deadline. The number of these threads is bounded.
/// Probes of the link are answered here, and count among them.
///
/// Threads: constructed and destroyed by one owner; close() from any.
class LinkDoor {
 public:
  static constexpr std::size_t kMaxPending = 64;

  LinkDoor(std::unique_ptr<transport::Listener> listener, Greeter greeter,
           Nanoseconds hello_timeout);
  /// Closes the listener and joins all threads.
  ~LinkDoor();
  LinkDoor(const LinkDoor&) = delete;
  LinkDoor& operator=(const LinkDoor&) = delete;

  std::string address() const { return listener_->address(); }
  /// Accepts no more links, and closes those that have not been matched.
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
  /// Returns the pending link, which is the caller's from then on.
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
