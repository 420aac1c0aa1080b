// A link in memory that a test sees into: everything sent, in order, and every ping answered.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "core/transport/transport.h"

namespace pareto::transport {

inline std::int64_t body_bytes(const wire::Message& message) {
  const auto* tuple = message.body.get_if<Tuple>();
  const Tensor* tensor =
      tuple != nullptr ? tuple->items.back().get_if<Tensor>() : message.body.get_if<Tensor>();
  return tensor == nullptr ? 0 : static_cast<std::int64_t>(tensor->size_bytes());
}

/// The traffic of a link that a test sees: everything sent, in order, and every ping answered.
struct Seen {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<wire::Message> sent;
  bool closed = false;
  bool blocked = false;  ///< send waits until close()
  int sending = 0;
  bool overlapped = false;  ///< two sent at the same time
  std::uint64_t trusted = 0;
  bool checksum = true;

  bool wait_for(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(20), condition);
  }
  std::size_t count(wire::MessageKind kind) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(sent, [&](const wire::Message& m) { return m.kind == kind; }));
  }
};

class FakeLink : public Link {
 public:
  explicit FakeLink(Seen& seen) : seen_(seen) {}
  Expected<Sent> send(const wire::Message& message, Deadline) override {
    std::unique_lock lock(seen_.mutex);
    if (++seen_.sending > 1) seen_.overlapped = true;
    seen_.changed.notify_all();
    seen_.changed.wait(lock, [&] { return !seen_.blocked || seen_.closed; });
    --seen_.sending;
    if (seen_.closed) return fail(ErrorCode::kClosed, "closed");
    seen_.sent.push_back(message);
    seen_.changed.notify_all();
    return Sent{};
  }
  Expected<Received> receive(Deadline) override {
    const std::lock_guard lock(seen_.mutex);
    Received received;
    received.message = seen_.sent.back();
    received.message.kind = wire::MessageKind::kPong;
    return received;
  }
  void close() override {
    const std::lock_guard lock(seen_.mutex);
    seen_.closed = true;
    seen_.changed.notify_all();
  }
  void trust(std::uint64_t max_frame_bytes) override { seen_.trusted = max_frame_bytes; }
  void send_without_checksum() override { seen_.checksum = false; }
  std::string peer() const override { return "fake"; }
  PeerIdentity identity() const override { return {"somebody", true}; }

 private:
  Seen& seen_;
};

inline TimePoint in_good_time() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(20);
}

}  // namespace pareto::transport
