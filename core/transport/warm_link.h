// A link that does not cool while it is idle: what a stage sends its results on, and the
// coordinator its requests.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/tcp_settings.h"
#include "core/transport/transport.h"
#include "core/transport/warmth.h"

namespace pareto::transport {

/// Returns the link that was primed with these figures, kept warm from now on for messages of
/// `boundary_bytes`. Returns it unchanged if that does not pay, or if this machine's connections do
/// not cool.
std::unique_ptr<Link> keep_warm(std::unique_ptr<Link> link, std::uint64_t pipeline,
                                const LinkFigures& figures, std::uint64_t boundary_bytes);

/// Returns the size of messages up to which such a link is warm, however long ago the last one was
/// (WarmLink's limit aside). This is the larger of `boundary_bytes` and the bytes it was primed
/// for. It is `boundary_bytes` if the link must be kept warm (`cools`) and larger messages need
/// more padding.
std::uint64_t warm_for(const LinkFigures& figures, std::uint64_t boundary_bytes,
                       bool cools = idle_connections_cool());

/// A link that passes everything to the link it owns. When that has been idle it sends padding
/// (warmth.h): messages of kind kPong that answer no ping, which the peer drops
/// (daemon/stage/FORMAT.md). Padding waits for senders, and the other way round.
///
/// Without a thread to send padding it passes everything on, and cools.
///
/// Threads: like Link, but any number may send; one of its own.
class WarmLink final : public Link {
 public:
  /// `padding`: the message.
  WarmLink(std::unique_ptr<Link> link, wire::Message padding, Nanoseconds interval);
  /// Closes.
  ~WarmLink() override;

  Expected<> authenticate(Deadline deadline) override { return link_->authenticate(deadline); }
  Expected<Sent> send(const wire::Message& message, Deadline deadline) override;
  Expected<Received> receive(Deadline deadline) override { return link_->receive(deadline); }
  void trust(std::uint64_t max_frame_bytes) override { link_->trust(max_frame_bytes); }
  void send_without_checksum() override;
  void send_by(const wire::Codec* codec) override;
  void close() override;
  void abort() override;
  std::string peer() const override { return link_->peer(); }
  PeerIdentity identity() const override { return link_->identity(); }

 private:
  /// Waits until nobody else sends. Fails: kTimeout.
  Expected<> begin_sending(Deadline deadline);
  void end_sending(bool padding);
  void pad_when_idle();

  const std::unique_ptr<Link> link_;
  const wire::Message padding_;
  std::mutex mutex_;
  std::condition_variable free_;   ///< nobody sends any more
  std::condition_variable woken_;  ///< wakes the thread: closed, or used after padding had ended
  bool sending_ = false;
  bool closed_ = false;
  IdleSchedule schedule_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace pareto::transport
