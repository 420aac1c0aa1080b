#include "daemon/stage/link_door.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/transport/link_probe.h"
#include "core/transport/ping.h"
#include "daemon/stage/link_peers.h"
#include "daemon/stage/link_probe.h"

namespace pareto::daemon {
namespace {

// Pause after an accept that failed for lack of descriptors or memory, so that others can free
// some.
constexpr std::chrono::milliseconds kAcceptPause{200};
// Time for a refused peer to receive the reason.
constexpr std::chrono::milliseconds kFarewell{500};
// Longest time that a probe is answered. The peer that measures gives up earlier.
constexpr std::chrono::seconds kLongestProbe = transport::kLongestProbe + std::chrono::seconds(10);
// Most bytes of a ping's frame, without its tensor.
constexpr std::uint64_t kPingOverhead = 64 << 10;

}  // namespace

LinkDoor::LinkDoor(std::unique_ptr<transport::Listener> listener, Greeter greeter,
                   Nanoseconds hello_timeout)
    : listener_(std::move(listener)),
      greeter_(std::move(greeter)),
      hello_timeout_(hello_timeout),
      accepting_([this] { accept_links(); }) {}

LinkDoor::~LinkDoor() {
  close();
  accepting_.join();
  // No thread adds to the list any more.
  pending_.clear();
}

void LinkDoor::close() {
  listener_->close();
  const std::lock_guard lock(mutex_);
  closed_ = true;
  closing_.notify_all();
  for (Pending& pending : pending_) {
    if (pending.link) pending.link->close();
  }
}

void LinkDoor::accept_links() {
  for (;;) {
    auto link = listener_->accept();
    if (link) {
      admit(*std::move(link));
      continue;
    }
    if (link.error().code == ErrorCode::kClosed) return;
    spdlog::warn("accepting on {}: {}", listener_->address(), link.error().message);
    std::unique_lock lock(mutex_);
    if (closing_.wait_for(lock, kAcceptPause, [&] { return closed_; })) return;
  }
}

void LinkDoor::admit(std::unique_ptr<transport::Link> link) {
  const std::lock_guard lock(mutex_);
  // Their threads have nothing left to do but return, so joining them takes no time.
  pending_.remove_if([](const Pending& pending) { return pending.done.load(); });
  if (closed_ || pending_.size() >= kMaxPending) {
    spdlog::warn("{}: refused, {} others have not said hello yet", link->peer(), pending_.size());
    link->close();
    return;
  }
  Pending& pending = pending_.emplace_back();
  transport::Link& raw = *link;
  pending.link = std::move(link);
  try {
    pending.thread = std::jthread([this, &pending, &raw] {
      greet(pending, raw);
      pending.done = true;
    });
  } catch (const std::system_error& error) {
    spdlog::warn("{}: refused, no thread to speak with it: {}", raw.peer(), error.what());
    raw.close();
    pending_.pop_back();
  }
}

std::unique_ptr<transport::Link> LinkDoor::take_link(Pending& pending) {
  const std::lock_guard lock(mutex_);
  return std::move(pending.link);
}

void LinkDoor::greet(Pending& pending, transport::Link& link) {
  const TimePoint deadline = *deadline_after(hello_timeout_);
  Expected<control::Hello> hello;
  auto received = link.receive(deadline);
  if (received) {
    hello = control::parse_hello(received->message);
  } else {
    hello = tl::unexpected(std::move(received).error());
  }
  if (const auto may = check_opens_links(link.identity()); hello && !may) {
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
  spdlog::warn("{}: refused: {}", own->peer(), greeted.error().message);
  // The peer may be gone, so an error does not matter here.
  static_cast<void>(
      own->send(control::error_message(hello ? hello->pipeline : 0, 0, greeted.error()),
                deadline_after(kFarewell)));
  own->close();
}

}  // namespace pareto::daemon
