// A stage as its host sees it, and the life of all kinds: those that run requests, and those that
// train.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/control/hello.h"
#include "core/control/stage_report.h"
#include "core/transport/prime.h"
#include "core/transport/transport.h"
#include "daemon/stage/loaded_shard.h"
#include "daemon/stage/stage_context.h"
#include "daemon/stage/stage_meter.h"
#include "daemon/stage/stage_threads.h"
#include "daemon/stage/stage_work.h"

namespace pareto::daemon {

/// A stage's activity, and the place at which its meter counts it.
struct WatchedStage {
  StagePlace place;
  control::StageActivity activity;
};

/// A shard at work between two links: the life that all kinds of stages share, from its links to
/// its end. A kind says what its threads do. It has more than 20 methods: what the host asks of
/// every kind, and what each kind answers.
///
/// Threads: every public call from any thread.
class HostedStage {
 public:
  virtual ~HostedStage() = default;
  HostedStage(const HostedStage&) = delete;
  HostedStage& operator=(const HostedStage&) = delete;

  /// Checks that a peer may say hello to this stage in `role`. Fails: as check_named() does.
  Expected<> check_peer(control::Role role, const transport::PeerIdentity& peer) const {
    return with_context(check_named(context_.peers, role, peer), "{}", context_.name());
  }
  /// Ends the stage, which fails, if the certificate of a peer at one of its links does not hold
  /// any more. `own`: null judges nobody.
  void end_if_refused(const tls::Credentials* own);
  /// Takes a link whose peer has said that hello, and answers it kReady; from then on pings on it
  /// are answered. Fails: kInvalidArgument (there is one already, or the role does not fit),
  /// kClosed (the stage has ended), kExhausted (no thread for it), and as links do. The link is
  /// left to the caller unless it was taken; the stage ends if a link that it took fails.
  virtual Expected<> attach(const control::Hello& hello, std::unique_ptr<transport::Link>& link,
                            Deadline deadline) = 0;
  /// Waits for both links, starts the threads, primes the downstream link. Returns its smallest
  /// round trip; 0 if the sink connects. It is called once, and again after kTimeout. Fails:
  /// kTimeout (naming who did not connect), kClosed, kInvalidArgument (started before), and as
  /// links do.
  Expected<Nanoseconds> start(TimePoint deadline);
  /// Runs `shard` from the next request on. Links, and how warm they are, stay as they are; so do
  /// counts and times. What the profile says of a request is forgotten. Returns the report before.
  /// Fails: kInvalidArgument (the stage does not run, has a request in flight, or trains);
  /// kExhausted (its downstream link was not primed for messages as large as the shard sends: open
  /// another stage).
  virtual Expected<control::StageReport> change_shard(std::shared_ptr<LoadedShard> shard) = 0;

  /// Takes no more requests; those that came are finished and sent, then kEnd. Returns at once.
  void drain();
  /// Waits until the stage has ended. Returns false at the deadline.
  bool wait_ended(TimePoint deadline);
  /// Ends the stage at once, requests in flight or not, and joins its threads. Returns false at the
  /// deadline: a thread still computes. The stage is then kept until another close_by() returns
  /// true.
  bool close_by(TimePoint deadline);
  /// Lets other stages compute although a thread of this one, which is closed, computes on.
  void let_go() { work().let_go(); }

  control::StageReport status() const;
  WatchedStage watch() const;
  /// Returns since when nothing has happened: the opening of a stage that has not run yet, or its
  /// end. None if it is at work.
  std::optional<TimePoint> idle_since() const;

 protected:
  /// `has_downstream`: its link to a next stage is there; otherwise a sink will connect.
  HostedStage(StageContext context, bool has_downstream)
      : context_(std::move(context)), has_downstream_(has_downstream) {}

  // What a kind of stage adds.
  virtual StageWork& work() = 0;
  const StageWork& work() const { return const_cast<HostedStage*>(this)->work(); }
  /// Primes the downstream link, before other threads use it. All figures are 0 if a sink connects.
  virtual Expected<transport::LinkFigures> prime(std::uint64_t output_bytes,
                                                 TimePoint deadline) = 0;
  /// Starts the threads that compute and send. mutex_ is held. Fails: as start_thread().
  virtual Expected<> start_threads(const transport::LinkFigures& figures,
                                   std::uint64_t output_bytes) = 0;
  /// Returns who is at the other ends of the links that it has.
  virtual std::vector<transport::PeerIdentity> peers() const = 0;
  /// Closes its links and queues, which wakes its threads. Called once, when it ends.
  virtual void close_parts() = 0;
  /// Wakes the thread that receives, which then passes the end on.
  virtual void close_upstream() = 0;
  /// Returns what it counts: "request".
  virtual std::string_view counts() const = 0;

  /// Ends it and joins its threads. Destructors call it, before what threads use is gone.
  void end_and_join();
  /// Starts the thread of a link that was attached in `role`. Fails: kClosed (it has ended), and as
  /// start_thread(); it has ended then.
  Expected<> serve(control::Role role, std::function<void()> body);
  /// Starts a thread. Fails: as StageThreads::start does, with this stage's name.
  Expected<> start_thread(std::function<void()> body);
  bool is_draining() const;
  /// Says that no request will follow.
  void note_draining();
  /// Ends it once: the first reason counts. Without `failure` it is closed in order.
  void end(std::optional<std::string> failure);

  const StageContext context_;
  // A thread that holds a SendTurn may wait for this; no thread waits for a turn while it holds
  // this.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  control::StageState state_ = control::StageState::kOpening;
  std::string failure_;
  std::atomic<bool> ended_{false};

 private:
  Expected<> wait_for_links(TimePoint deadline);
  Expected<> run(const transport::LinkFigures& figures, std::uint64_t output_bytes);

  const TimePoint opened_at_ = std::chrono::steady_clock::now();
  std::optional<TimePoint> ended_at_;
  bool has_upstream_ = false;  ///< and a thread that receives from it
  bool has_downstream_;        ///< the next stage, or a sink and a thread that serves it
  bool started_ = false;
  StageThreads threads_;
};

/// Returns the report of a stage in a state; `failure` is why it failed, or empty.
control::StageReport report_of(const StageContext& context, const LoadedShard& shard,
                               control::StageState state, const std::string& failure);

}  // namespace pareto::daemon
