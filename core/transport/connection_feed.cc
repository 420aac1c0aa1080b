#include "core/transport/connection_feed.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/base/poll.h"
#include "core/transport/site.h"

namespace pareto::transport {
namespace {

// After an accept that failed for want of descriptors or memory: others must be given time to free
// some.
constexpr std::chrono::milliseconds kPause{200};

/// Descriptors of this process: all, and those of them that are kept for others.
struct Descriptors {
  int most = ConnectionFeed::kMostDescriptors;
  int reserved = 0;
};

Descriptors descriptors() {
  constexpr int kLeast = 16;
  constexpr int kShare = 32;
  Descriptors all;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    all.most = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, ConnectionFeed::kMostDescriptors));
  }
  all.reserved =
      std::clamp(all.most / kShare, std::min(kLeast, all.most / 2), ConnectionFeed::kReserve);
  return all;
}

}  // namespace

Expected<std::unique_ptr<ConnectionFeed>> ConnectionFeed::start(
    std::vector<FileDescriptor> listening, Take take, Complain complain) {
  PARETO_ASSIGN(Waker waker, Waker::create());
  std::unique_ptr<ConnectionFeed> feed(new ConnectionFeed(std::move(listening), std::move(waker),
                                                          std::move(take), std::move(complain)));
  try {
    feed->thread_ = std::jthread([raw = feed.get()] { raw->run(); });
  } catch (const std::system_error& error) {
    return fail(ErrorCode::kExhausted, "no thread to accept connections: {}", error.what());
  }
  return feed;
}

ConnectionFeed::ConnectionFeed(std::vector<FileDescriptor> listening, Waker waker, Take take,
                               Complain complain)
    : listening_(std::move(listening)),
      waker_(std::move(waker)),
      take_(std::move(take)),
      complain_(std::move(complain)) {}

ConnectionFeed::~ConnectionFeed() { waker_.wake(); }

void ConnectionFeed::run() {
  std::vector<pollfd> polled{{waker_.descriptor(), POLLIN, 0}};
  for (const FileDescriptor& socket : listening_) polled.push_back({socket.get(), POLLIN, 0});
  while (poll_until(polled, std::nullopt) && polled.front().revents == 0) {
    Expected<> accepted;
    for (std::size_t i = 0; i < listening_.size() && accepted; ++i) {
      if (polled[i + 1].revents != 0) accepted = accept_from(listening_[i]);
    }
    if (accepted) continue;
    refuse(accepted.error().message);
    // Woken early only when it is to end.
    static_cast<void>(poll_until(std::span(polled).first(1), deadline_after(kPause)));
  }
}

Expected<> ConnectionFeed::accept_from(const FileDescriptor& listening) {
  while (true) {
    FileDescriptor connection(
        ::accept4(listening.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!connection) {
      const int number = errno;
      if (number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM) {
        return fail(ErrorCode::kExhausted, "{}", errno_text(number));
      }
      // It befell a connection that ended before it was accepted, or none waits any more.
      if (number == EAGAIN || number == EWOULDBLOCK) return {};
      if (number == EBADF || number == EINVAL || number == ENOTSOCK) return {};
      continue;
    }
    const std::string site = site_of(remote_address(connection));
    // The lowest free number is given out: it tells how many are open. Those that are ended to make
    // room take a moment to go.
    const Descriptors all = descriptors();
    const int above = connection.get() - (all.most - all.reserved);
    if (above >= 0 && (above >= all.reserved / 2 || !open_.make_room(site))) {
      connection.reset();
      refuse("nearly all descriptors that this process may have are open");
      continue;
    }
    if (!open_.add(site, connection.get())) {
      connection.reset();
      refuse("one host, or one network of IPv6, has too many open");
      continue;
    }
    take_(std::move(connection));
  }
}

void ConnectionFeed::refuse(const std::string& why) {
  const auto times = refused_.due(std::chrono::steady_clock::now());
  if (!times) return;
  complain_(
      {ErrorCode::kExhausted, fmt::format("{} connections could not be taken: {}", *times, why)});
}

}  // namespace pareto::transport
