#include "daemon/stage/link_acceptor.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "core/transport/link_probe.h"
#include "core/transport/ping.h"
#include "core/transport/site.h"
#include "daemon/stage/link_peers.h"
#include "daemon/stage/link_probe.h"

namespace pareto::daemon {
namespace {

// Pause after an accept that failed for lack of descriptors or memory, so that others can free
// some.
constexpr std::chrono::milliseconds kAcceptPause{200};
// The longest that a connection waits for a thread.
constexpr std::chrono::seconds kMostWait{2};
// Time for a refused peer to receive the reason.
constexpr std::chrono::milliseconds kFarewell{500};
// Longest time that a probe is answered. The peer that measures gives up earlier.
constexpr std::chrono::seconds kLongestProbe = transport::kLongestProbe + std::chrono::seconds(10);
// Most bytes of a ping's frame, without its tensor.
constexpr std::uint64_t kPingOverhead = 64 << 10;

}  // namespace

LinkAcceptor::LinkAcceptor(std::unique_ptr<transport::Listener> listener, Greeter greeter,
                           Nanoseconds hello_timeout, std::shared_ptr<const tls::Credentials> own)
    : listener_(std::move(listener)),
      greeter_(std::move(greeter)),
      hello_timeout_(hello_timeout),
      own_(std::move(own)),
      accepting_([this] { accept_links(); }) {}

LinkAcceptor::~LinkAcceptor() {
  close();
  accepting_.join();
  // No thread adds to the list any more.
  pending_.clear();
}

void LinkAcceptor::close() {
  listener_->close();
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
  for (Pending& pending : pending_) {
    if (pending.link) pending.link->close();
  }
}

void LinkAcceptor::close_refused() {
  const std::lock_guard lock(mutex_);
  for (const Pending& pending : pending_) {
    if (pending.link && !check_holds(own_.get(), pending.link->identity())) pending.link->close();
  }
}

void LinkAcceptor::accept_links() {
  for (;;) {
    auto link = listener_->accept();
    if (link) {
      admit(*std::move(link));
      continue;
    }
    if (link.error().code == ErrorCode::kClosed) return;
    spdlog::warn("accepting on {}: {}", listener_->address(), link.error().message);
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kAcceptPause, [&] { return closed_; })) return;
  }
}

void LinkAcceptor::admit(std::unique_ptr<transport::Link> link) {
  std::unique_lock lock(mutex_);
  const auto has_room = [&] {
    // Their threads have nothing left to do but return, so joining them takes no time.
    pending_.remove_if([](const Pending& pending) { return pending.done.load(); });
    return closed_ || pending_.size() < 2 * kMaxPending;
  };
  // Those that were hung up on have threads for a moment longer; a flood waits for them to go.
  if (!changed_.wait_for(lock, kMostWait, has_room) || closed_) return link->close();
  if (taken() >= kMaxPending) make_room();
  Pending& pending = pending_.emplace_back();
  transport::Link& raw = *link;
  pending.site = transport::site_of(raw.peer());
  pending.link = std::move(link);
  try {
    pending.thread = std::jthread([this, &pending, &raw] {
      greet(pending, raw);
      const std::lock_guard done(mutex_);
      pending.done = true;
      changed_.notify_all();
    });
  } catch (const std::system_error& error) {
    spdlog::warn("{}: refused, no thread to speak with it: {}", raw.peer(), error.what());
    raw.close();
    pending_.pop_back();
  }
}

std::size_t LinkAcceptor::taken() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(pending_, [](const Pending& one) { return !one.hung_up; }));
}

std::size_t LinkAcceptor::waiting_from(const std::string& site) {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(
      pending_, [&](const Pending& one) { return !one.done && !one.link && one.site == site; }));
}

void LinkAcceptor::make_room() {
  std::map<std::string, std::size_t> places;
  for (const Pending& one : pending_) {
    if (!one.hung_up && one.link) ++places[one.site];
  }
  // A link that is matched at this moment is not ours any more.
  if (places.empty()) return;
  std::size_t most = 0;
  for (const auto& [site, count] : places) most = std::max(most, count);
  Pending* leaves = nullptr;
  for (Pending& one : pending_) {
    if (one.hung_up || !one.link || places[one.site] != most) continue;
    if (leaves == nullptr || (leaves->said_hello && !one.said_hello)) leaves = &one;
  }
  leaves->hung_up = true;
  leaves->link->close();
  if (const auto times = hung_up_.due(std::chrono::steady_clock::now())) {
    spdlog::warn(
        "{}: hung up on a peer that took too long to say hello: {} others wait, {} of them from "
        "there{}",
        leaves->site, taken(), most - 1, since_last_line(*times));
  }
}

void LinkAcceptor::tell_of_refusal(const std::string& peer, const Error& why, bool said_hello) {
  const std::lock_guard lock(mutex_);
  const auto times =
      (said_hello ? refused_ : refused_strangers_).due(std::chrono::steady_clock::now());
  if (times) spdlog::warn("{}: refused: {}{}", peer, why.message, since_last_line(*times));
}

std::unique_ptr<transport::Link> LinkAcceptor::take_link(Pending& pending) {
  const std::lock_guard lock(mutex_);
  return std::move(pending.link);
}

Expected<> LinkAcceptor::check_peer(const transport::PeerIdentity& peer) const {
  PARETO_TRY(check_opens_links(peer));
  // Its handshake may have begun with an older list.
  return check_holds(own_.get(), peer);
}

void LinkAcceptor::greet(Pending& pending, transport::Link& link) {
  const TimePoint deadline = *deadline_after(hello_timeout_);
  Expected<control::Hello> hello;
  auto received = link.receive(deadline);
  bool hung_up = false;
  {
    const std::lock_guard lock(mutex_);
    pending.said_hello = received.has_value();
    hung_up = pending.hung_up;
  }
  if (hung_up) {
    // The thread that made it leave has told the log. Its end may wait for the peer, here alone.
    static_cast<void>(take_link(pending));
    return;
  }
  if (received) {
    hello = control::parse_hello(received->message);
  } else {
    hello = tl::unexpected(std::move(received).error());
  }
  if (const auto may = check_peer(link.identity()); hello && !may) {
    hello = tl::unexpected(may.error());
  }
  if (hello && hello->role == control::Role::kProbe) {
    link.trust(transport::kLargestPingBytes + kPingOverhead);
    // The link still belongs to this object: close() ends it.
    answer_probe(link, hello->pipeline, deadline_after(kLongestProbe));
    // Frees the link now, and what it buffered.
    static_cast<void>(take_link(pending));
    return;
  }
  if (hello && waiting_from(pending.site) >= kMaxWaiting) {
    hello = fail(ErrorCode::kExhausted, "{} links of {} wait for their stages here, the limit",
                 kMaxWaiting, pending.site);
  }
  // From here on the link is this thread's: close() does not end the greeter's waits, the stages
  // do.
  std::unique_ptr<transport::Link> own = take_link(pending);
  Expected<> greeted;
  if (hello) {
    greeted = greeter_(*hello, own, deadline);
  } else {
    greeted = tl::unexpected(hello.error());
  }
  if (greeted || own == nullptr) return;
  tell_of_refusal(own->peer(), greeted.error(), hello.has_value());
  // The peer may be gone, so an error does not matter here.
  static_cast<void>(
      own->send(control::error_message(hello ? hello->pipeline : 0, 0, greeted.error()),
                deadline_after(kFarewell)));
  own->close();
}

}  // namespace pareto::daemon
