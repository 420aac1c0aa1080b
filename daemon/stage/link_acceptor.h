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
#include "core/base/rare_line.h"
#include "core/control/hello.h"
#include "core/tls/credentials.h"
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
/// If all places are taken, the sites (core/transport/site.h) that have most of them lose one: that
/// of their oldest peer that has not said hello, else their oldest. So a site that takes all places
/// keeps out only itself, and those that say hello at once come in, however many others come.
///
/// Threads: constructed and destroyed by one owner; close() from any.
class LinkAcceptor {
 public:
  static constexpr std::size_t kMaxPending = 64;  ///< peers that have not been matched yet

  /// Peers of one site that said hello to stages which are not open yet.
  static constexpr std::size_t kMaxWaiting = kMaxPending / 2;

  /// `own`: credentials of the listener; null: it has none.
  LinkAcceptor(std::unique_ptr<transport::Listener> listener, Greeter greeter,
               Nanoseconds hello_timeout, std::shared_ptr<const tls::Credentials> own = nullptr);
  /// Closes the listener and joins all threads.
  ~LinkAcceptor();
  LinkAcceptor(const LinkAcceptor&) = delete;
  LinkAcceptor& operator=(const LinkAcceptor&) = delete;

  std::string address() const { return listener_->address(); }
  /// Accepts no more links, and closes those that have not been matched.
  void close();
  /// Closes those that have not been matched and whose peer's certificate does not hold any more.
  void close_refused();

 private:
  struct Pending {
    std::string site;
    std::unique_ptr<transport::Link> link;  ///< guarded by mutex_; null once matched
    bool said_hello = false;                ///< guarded by mutex_
    bool hung_up = false;                   ///< guarded by mutex_: its place is another's
    std::atomic<bool> done{false};
    std::jthread thread;
  };

  void accept_links();
  void admit(std::unique_ptr<transport::Link> link);
  void greet(Pending& pending, transport::Link& link);
  /// Checks that a peer may open links now. Fails: kPermission.
  Expected<> check_peer(const transport::PeerIdentity& peer) const;
  /// Returns how many peers of a site have said hello to a stage that is waited for.
  std::size_t waiting_from(const std::string& site);
  /// Makes a place for one more. mutex_ is held.
  void make_room();
  /// Logs that a peer was refused, with fewer lines about those that said no proper hello.
  void tell_of_refusal(const std::string& peer, const Error& why, bool said_hello);
  /// Returns how many places are taken. mutex_ is held.
  std::size_t taken() const;
  /// Returns the pending link, which is the caller's from then on.
  std::unique_ptr<transport::Link> take_link(Pending& pending);

  const std::unique_ptr<transport::Listener> listener_;
  const Greeter greeter_;
  const Nanoseconds hello_timeout_;
  const std::shared_ptr<const tls::Credentials> own_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  std::list<Pending> pending_;  ///< oldest first
  static constexpr std::chrono::seconds kBetweenLines{60};
  RareLine hung_up_{kBetweenLines};                 ///< lines about peers that made room
  RareLine refused_strangers_{kBetweenLines};       ///< lines about peers that said no proper hello
  RareLine refused_{std::chrono::seconds(10), 20};  ///< lines about the other refused peers
  std::jthread accepting_;
};

}  // namespace pareto::daemon
