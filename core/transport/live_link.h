// A link whose two ends show each other that they are alive, and that does not cool while it is
// idle: the links of stages, and those of a coordinator with stages.
//
//   nothing sent for a beat ──▶ a beat: kPong of a few bytes, which answers no ping
//   idle, and it would cool ──▶ padding: the same with many bytes (warmth.h)
//   nothing came for long   ──▶ the peer is lost (silence.h): the link ends with kUnavailable
//
// A peer drops kPong that answers no ping (core/control/FORMAT.md). Whether the ends beat is agreed
// in their first words (core/control/hello.h).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/silence.h"
#include "core/transport/transport.h"
#include "core/transport/warmth.h"

namespace pareto::transport {

/// The request number of beats and padding: no ping has it.
inline constexpr std::uint64_t kAnswersNoPing = UINT64_MAX;

/// Describes what a live link does by itself.
struct LifeOptions {
  std::uint64_t pipeline = 0;  ///< pipeline that beats and padding name
  /// Time between two signs of life of the peer. 0 means that neither end gives any, and nobody
  /// judges.
  Nanoseconds peer_beat{};
  Nanoseconds beat = kBeat;                     ///< time between two of this end
  Nanoseconds least_patience = kLeastPatience;  ///< shorter: all the patience, for tests that wait
  /// True if nothing may be sent before the owner's first message: this end was connected to.
  bool begins_with_first_message = false;
  /// True if the owner does not always receive: a thread of the link listens meanwhile.
  bool listens = false;
};

/// A link that passes everything to the link it owns. Beats and padding wait for senders, and the
/// other way round. What came to a thread that listens is kept for the next receive(). It has more
/// than 20 methods because it overrides all of Link, and has a half that sends and one that
/// listens.
///
/// Fails: as Link; kUnavailable also if the peer has shown no life for too long. The link is
/// abandoned then: nobody waits for its peer any more.
/// Threads: like Link, but any number may send; up to two of its own.
class LiveLink final : public Link {
 public:
  /// Takes the link if it succeeds. Fails: kExhausted (no thread to beat).
  static Expected<std::unique_ptr<LiveLink>> make(std::unique_ptr<Link>& link,
                                                  const LifeOptions& options);
  /// Closes.
  ~LiveLink() override;
  LiveLink(const LiveLink&) = delete;
  LiveLink& operator=(const LiveLink&) = delete;

  Expected<> authenticate(Deadline deadline) override { return link_->authenticate(deadline); }
  Expected<Sent> send(const wire::Message& message, Deadline deadline) override;
  Expected<Received> receive(Deadline deadline) override;
  void trust(std::uint64_t max_frame_bytes) override { link_->trust(max_frame_bytes); }
  void send_without_checksum() override;
  void send_by(const wire::Codec* codec) override;
  /// Keeps it warm from now on, if that pays and this machine's connections cool. Without memory or
  /// a thread for that it is slow after a pause, nothing worse.
  void primed(const LinkFigures& figures, std::uint64_t boundary_bytes) override;
  std::uint64_t received_bytes() const override { return link_->received_bytes(); }
  bool is_silent() const override { return silent_; }
  void close() override;
  void abort() override;
  std::string peer() const override { return link_->peer(); }
  PeerIdentity identity() const override { return link_->identity(); }

  /// Pads with this message from now on, whenever the link has been idle for `interval`.
  void pad_with(wire::Message padding, Nanoseconds interval);

 private:
  LiveLink(std::unique_ptr<Link> link, const LifeOptions& options);
  Expected<> start();
  /// Ends its threads, with the link left as it is. Nothing may be sent then.
  void stop();

  // Sending.
  bool beats() const { return options_.peer_beat > Nanoseconds(0); }
  /// Waits until nobody else sends. Fails: kTimeout.
  Expected<> begin_sending(Deadline deadline);
  /// Tells the peer to be patient if it takes long until the message's first byte is sent.
  void ask_for_patience(const wire::Message& message);
  /// Lets others send, after something was sent.
  void end_sending();
  /// Lets others send, after nothing was.
  void give_way();
  /// Body of the thread that beats and pads.
  void show_life();
  Deadline next_beat() const;
  wire::Message beat_message() const;

  // Receiving.
  Expected<Received> receive_next(Deadline deadline);
  /// Drops beats and padding: returns whether it is one.
  bool is_sign_of_life(const wire::Message& message);
  /// Notes that something came at `at`, in a wait that began at `asked`.
  void hear(TimePoint asked, TimePoint at);
  /// Notes a wait that brought no message, meant to last as long. Fails: kUnavailable (the peer is
  /// lost).
  Expected<> judge(TimePoint asked, Nanoseconds meant);
  /// Body of the thread that listens while the owner does not.
  void listen();
  /// Returns why the link is lost in place of an error that only follows from it.
  Error cause_of(Error error) const;

  std::unique_ptr<Link> link_;  ///< taken back only by make()
  const LifeOptions options_;
  std::atomic<Nanoseconds> round_trip_{Nanoseconds(0)};  ///< longest that an end has measured
  std::atomic<bool> silent_{false};                      ///< the peer has shown no life

  mutable std::mutex mutex_;
  std::condition_variable free_;  ///< nobody sends any more
  std::condition_variable
      woken_;  ///< wakes the threads: closed, begun, or used after padding ended
  bool sending_ = false;
  const wire::Codec* codec_ = nullptr;  ///< used by the thread that sends
  bool begun_ = false;
  bool closed_ = false;
  TimePoint sent_{};  ///< when this end sent last
  std::optional<wire::Message> padding_;
  std::optional<IdleSchedule> schedule_;  ///< when padding is due
  std::string lost_;                      ///< the sentence about a peer that is silent

  std::mutex receiving_;  ///< held by the thread that receives; guards what follows
  Silence silence_;
  std::uint64_t bytes_before_ = 0;          ///< bytes that had come when somebody looked last
  std::optional<Expected<Received>> kept_;  ///< what came while the link listened

  std::jthread beating_;  // last: they use all of the above
  std::jthread listening_;
};

}  // namespace pareto::transport
