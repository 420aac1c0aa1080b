#include "core/transport/tcp/tls_stream.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "core/transport/tcp/drain.h"
#include "core/transport/tcp/tls_failure.h"

namespace pareto::transport::tcp {
namespace {

/// The longest that a peer may take to shake hands with one who connects. The kernel takes
/// connections for a process that is stopped.
constexpr std::chrono::seconds kHandshakePatience{10};
/// Longest wait for room for the farewell, of a stream that is destroyed.
constexpr std::chrono::seconds kLinger{1};

std::span<std::byte> memory_of(const iovec& part) {
  return {static_cast<std::byte*>(part.iov_base), part.iov_len};
}

}  // namespace

Expected<std::unique_ptr<TlsStream>> TlsStream::open(FileDescriptor socket, TlsSide side,
                                                     const LinkOptions& options) {
  PARETO_ASSIGN(Waker waker, Waker::create());
  tune_connection(socket);
  auto stream =
      std::make_unique<TlsStream>(std::move(socket), std::move(waker), side, options.expected_peer);
  PARETO_ASSIGN(stream->session_, TlsSession::open(stream->socket_, *options.credentials, side));
  return stream;
}

Expected<std::unique_ptr<ByteStream>> TlsStream::connect(FileDescriptor socket,
                                                         const LinkOptions& options,
                                                         Deadline deadline) {
  PARETO_ASSIGN(auto stream, open(std::move(socket), TlsSide::kConnecting, options));
  const Deadline patience = deadline_after(kHandshakePatience);
  const auto shaken = stream->authenticate(deadline ? std::min(deadline, patience) : patience);
  if (shaken) return stream;
  if (shaken.error().code != ErrorCode::kTimeout) {
    return with_context(Expected<std::unique_ptr<ByteStream>>(tl::unexpected(shaken.error())), "{}",
                        stream->address_);
  }
  return fail(ErrorCode::kTimeout,
              "{}: it took the connection and does not answer: its daemon may be stopped, or its "
              "device too busy",
              stream->address_);
}

Expected<std::unique_ptr<ByteStream>> TlsStream::accept(FileDescriptor socket,
                                                        const LinkOptions& options) {
  return open(std::move(socket), TlsSide::kAccepting, options);
}

TlsStream::TlsStream(FileDescriptor socket, Waker waker, TlsSide side,
                     std::optional<tls::Identity> expected)
    : socket_(std::move(socket)),
      waker_(std::move(waker)),
      address_(remote_address(socket_)),
      side_(side),
      expected_(std::move(expected)) {}

TlsStream::~TlsStream() {
  shut_down();
  // No other thread is left. A farewell that finds room only now still spares the peer the
  // suspicion that bytes are missing.
  const Deadline deadline = deadline_after(kLinger);
  while (owes_end_ && wait_until_ready(socket_.get(), POLLOUT, nullptr, deadline)) {
    const auto sent = session_->flush();
    owes_end_ = sent && !*sent;
  }
  ::shutdown(socket_.get(), SHUT_WR);
  drain(socket_);
}

Expected<> TlsStream::authenticate(Deadline deadline) {
  if (authenticated_.load(std::memory_order_acquire)) return {};
  std::unique_lock lock(mutex_);
  while (shaking_) {
    const auto over = [this] { return !shaking_; };
    if (!deadline) {
      shaken_.wait(lock, over);
    } else if (!shaken_.wait_until(lock, *deadline, over)) {
      return fail(ErrorCode::kTimeout, "the deadline passed");
    }
  }
  PARETO_TRY(check_open());
  if (authenticated_) return {};
  shaking_ = true;
  Expected<> shaken = shake_hands(lock, deadline);
  shaking_ = false;
  shaken_.notify_all();
  if (shaken) {
    authenticated_.store(true, std::memory_order_release);
    return {};
  }
  const ErrorCode code = shaken.error().code;
  if (code == ErrorCode::kTimeout || code == ErrorCode::kClosed) return shaken;
  return note(shaken.error());
}

Expected<> TlsStream::shake_hands(std::unique_lock<std::mutex>& lock, Deadline deadline) {
  const auto wait = [&](int events) -> Expected<> {
    lock.unlock();
    const auto ready =
        wait_until_ready(socket_.get(), static_cast<short>(events), &waker_, deadline);
    lock.lock();
    if (!ready) return tl::unexpected(ready.error());
    if (shut_down_) return fail(ErrorCode::kClosed, "the link is closed");
    return {};
  };
  // The side that connected speaks first.
  bool said = side_ == TlsSide::kAccepting;
  while (true) {
    if (said && !looked_) {
      PARETO_TRY(wait(POLLIN));
      PARETO_TRY(check_first_byte());
    }
    const Expected<bool> step = session_->handshake();
    // Also after an error: the peer is told what it was.
    const Expected<bool> sent = session_->flush();
    if (!step) return tl::unexpected(step.error());
    if (!sent) return cause_or(sent.error());
    if (*step && *sent) return check_peer();
    said = said || *sent;
    if (!looked_ && *sent) continue;
    PARETO_TRY(wait((*step ? 0 : POLLIN) | (*sent ? 0 : POLLOUT)));
  }
}

Expected<> TlsStream::check_first_byte() {
  looked_ = true;
  // The types of records that come in plain text.
  constexpr unsigned char kAlert = 21;
  constexpr unsigned char kHandshake = 22;
  unsigned char first = 0;
  // OpenSSL finds the end, or what is wrong with the socket.
  if (::recv(socket_.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT) != 1) return {};
  if (first == kAlert || first == kHandshake) return {};
  send_version_alert(socket_);
  return tl::unexpected(speaks_no_tls());
}

Expected<> TlsStream::check_peer() {
  PARETO_ASSIGN(peer_, session_->peer());
  peer_chain_ = session_->peer_chain();
  if (side_ == TlsSide::kAccepting) return {};
  if (expected_ && *peer_ != *expected_) {
    return fail(ErrorCode::kPermission,
                "{} answers, not {}: the address is another's, or the inventory names it wrongly",
                to_string(*peer_), to_string(*expected_));
  }
  if (!expected_ && peer_->role != tls::Role::kDevice) {
    return fail(ErrorCode::kPermission, "{} answers, which is no device", to_string(*peer_));
  }
  return {};
}

Expected<> TlsStream::check_open() const {
  if (shut_down_) return fail(ErrorCode::kClosed, "the link is closed");
  if (failure_) return tl::unexpected(*failure_);
  return {};
}

tl::unexpected<Error> TlsStream::note(Error error) {
  if (!failure_) failure_ = std::move(error);
  return tl::unexpected(*failure_);
}

tl::unexpected<Error> TlsStream::cause_or(Error otherwise) {
  const Expected<> next = session_->look_ahead();
  if (next) return tl::unexpected(std::move(otherwise));
  note(next.error());
  if (next.error().code == ErrorCode::kPermission) return tl::unexpected(next.error());
  return tl::unexpected(std::move(otherwise));
}

Expected<std::size_t> TlsStream::write_some(std::span<const iovec> parts, Deadline deadline) {
  PARETO_TRY(authenticate(deadline));
  PARETO_TRY(flush(deadline));
  // Until there is room, these bytes are still the caller's. Without a deadline nobody asks.
  if (deadline) PARETO_TRY(wait_for_room(deadline));
  Expected<std::size_t> taken = 0;
  {
    const std::lock_guard lock(mutex_);
    PARETO_TRY(check_open());
    writing_ = true;
    taken = session_->encrypt(parts);
    if (!taken) return note(taken.error());
  }
  const Expected<> sent = flush(deadline);
  if (sent) return taken;
  if (sent.error().code == ErrorCode::kTimeout) shut_down();
  return tl::unexpected(sent.error());
}

Expected<> TlsStream::flush(Deadline deadline) {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      PARETO_TRY(check_open());
      if (peer_ended_) {
        return cause_or({ErrorCode::kClosed, "the peer closed the link"});
      }
      const Expected<bool> sent = session_->flush();
      if (!sent) return cause_or(sent.error());
      if (*sent) {
        writing_ = false;
        return {};
      }
    }
    PARETO_TRY(wait_for_room(deadline));
  }
}

Expected<> TlsStream::wait_for_room(Deadline deadline) {
  PARETO_ASSIGN(const short ready,
                wait_until_ready(socket_.get(), POLLOUT | POLLRDHUP, &waker_, deadline));
  // A peer that closed reads no more: it would never make room.
  if ((ready & POLLRDHUP) != 0) peer_ended_ = true;
  return {};
}

Expected<std::size_t> TlsStream::read_some(std::span<const iovec> parts, Deadline deadline) {
  PARETO_TRY(authenticate(deadline));
  std::size_t got = 0;
  for (const iovec& part : parts) {
    std::span<std::byte> into = memory_of(part);
    while (!into.empty()) {
      bool unsent = false;
      std::optional<std::size_t> some;
      {
        const std::lock_guard lock(mutex_);
        if (got > 0 && !check_open()) return got;
        PARETO_TRY(check_open());
        auto decrypted = session_->decrypt(into);
        if (!decrypted) {
          auto failed = note(std::move(decrypted).error());
          // What came before is whole; the next call reports what followed.
          if (got > 0) return got;
          return failed;
        }
        some = *decrypted;
        // Reading may have had something to answer. A writer sends it too.
        if (session_->has_unsent() && !writing_) {
          const Expected<bool> sent = session_->flush();
          unsent = sent && !*sent;
        }
      }
      if (some && *some == 0) {
        peer_ended_ = true;
        return got;
      }
      if (some) {
        got += *some;
        into = into.subspan(*some);
        continue;
      }
      if (got > 0) return got;
      const int events = POLLIN | (unsent ? POLLOUT : 0);
      PARETO_TRY(wait_until_ready(socket_.get(), static_cast<short>(events), &waker_, deadline));
    }
  }
  return got;
}

void TlsStream::shut_down() {
  if (shut_down_.exchange(true)) return;
  {
    const std::lock_guard lock(mutex_);
    // The farewell comes after whole writes only: a peer that misses it knows that bytes are
    // missing.
    if (authenticated_ && !failure_ && !writing_) {
      session_->end();
      const auto sent = session_->flush();
      owes_end_ = sent && !*sent;
    }
    if (!owes_end_) ::shutdown(socket_.get(), SHUT_WR);
  }
  waker_.wake();
}

PeerIdentity TlsStream::identity() const {
  const std::lock_guard lock(mutex_);
  if (!authenticated_) return {address_};
  return {to_string(*peer_), true, peer_, peer_chain_};
}

}  // namespace pareto::transport::tcp
