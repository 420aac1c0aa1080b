// A machine in the middle: passes one connection on, and does to its bytes what a test says.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "core/transport/socket.h"
#include "tests/core/transport/fixture.h"

namespace pareto::transport {

/// Bytes that pass before any are held back, because a handshake waits for them.
inline constexpr std::size_t kFew = 100'000;

/// Mischief with what the connecting side sends; places count from its first byte.
struct Mischief {
  std::size_t flips = SIZE_MAX;       ///< place of a byte of which one bit changes
  std::size_t cuts_after = SIZE_MAX;  ///< bytes after which both connections end
  std::size_t swallows = 0;           ///< last bytes that never arrive, of more than kFew
};

class ByteForwarder {
 public:
  ByteForwarder(const std::string& to, const Mischief& mischief)
      : listening_(must(open_listener(must(parse_host_port("127.0.0.1:0"))))),
        waker_(must(Waker::create())),
        to_(to),
        mischief_(mischief),
        thread_([this] { forward(); }) {}
  ~ByteForwarder() { waker_.wake(); }
  std::string address() const { return local_address(listening_); }
  /// Drops what the connecting side sends from now on, or what it is sent. Both kernels go on.
  void cut(bool forth) { (forth ? cut_forth_ : cut_back_) = true; }
  /// Returns what the connecting side has sent until now.
  std::string sent() const {
    const std::lock_guard lock(mutex_);
    return sent_;
  }

 private:
  void forward() {
    auto here = accept_connection(listening_, waker_, soon());
    auto there = open_connection(must(parse_host_port(to_)), soon());
    if (!here || !there) return;
    const std::jthread back([&] { pump(there->get(), here->get(), false); });
    pump(here->get(), there->get(), true);
    if (passed_ < mischief_.cuts_after) return;
    ::shutdown(here->get(), SHUT_RDWR);
    ::shutdown(there->get(), SHUT_RDWR);
  }

  /// Pumps until the connection ends.
  void pump(int from, int to, bool forth) {
    std::array<char, 65536> bytes{};
    while (wait_until_ready(from, POLLIN, &waker_, std::nullopt)) {
      const ssize_t got = ::recv(from, bytes.data(), bytes.size(), 0);
      if (got <= 0 && errno == EAGAIN) continue;
      if (got <= 0) break;
      if (forth ? cut_forth_ : cut_back_) continue;
      std::string text(bytes.data(), static_cast<std::size_t>(got));
      if (forth) text = meddle(std::move(text));
      for (std::size_t sent = 0; sent < text.size();) {
        if (!wait_until_ready(to, POLLOUT, &waker_, std::nullopt)) return;
        const ssize_t now = ::send(to, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (now < 0 && errno != EAGAIN) return;
        sent += static_cast<std::size_t>(std::max<ssize_t>(now, 0));
      }
      if (forth && passed_ >= mischief_.cuts_after) return;
    }
    ::shutdown(to, SHUT_WR);
  }

  /// Returns the bytes that go on.
  std::string meddle(std::string text) {
    text.resize(std::min(text.size(), mischief_.cuts_after - passed_));
    const std::size_t flips = mischief_.flips;
    if (flips >= passed_ && flips < passed_ + text.size()) text[flips - passed_] ^= 0x10;
    passed_ += text.size();
    {
      const std::lock_guard lock(mutex_);
      sent_ += text;
    }
    held_ += text;
    const std::size_t holds = passed_ > kFew ? mischief_.swallows : 0;
    const std::size_t goes = held_.size() - std::min(held_.size(), holds);
    text = held_.substr(0, goes);
    held_.erase(0, goes);
    return text;
  }

  FileDescriptor listening_;
  Waker waker_;
  const std::string to_;
  const Mischief mischief_;
  std::atomic<bool> cut_forth_{false};
  std::atomic<bool> cut_back_{false};
  // The forwarding thread's.
  std::size_t passed_ = 0;
  std::string held_;  // the last bytes, which may never arrive
  mutable std::mutex mutex_;
  std::string sent_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace pareto::transport
