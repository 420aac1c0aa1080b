// A stage as its host sees it: one that runs requests, or one that trains.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/control/hello.h"
#include "core/control/stage_report.h"
#include "core/transport/transport.h"
#include "daemon/stage/loaded_shard.h"
#include "daemon/stage/stage_context.h"
#include "daemon/stage/stage_meter.h"

namespace pareto::daemon {

/// A stage's activity, and the place at which its meter counts it.
struct WatchedStage {
  StagePlace place;
  control::StageActivity activity;
};

/// Returns the report of a stage in a state; `failure` is why it failed, or empty.
control::StageReport report_of(const StageContext& context, const LoadedShard& shard,
                               control::StageState state, const std::string& failure);
/// Returns the stage's activity behind its report.
WatchedStage watched_stage(const StageContext& context, const LoadedShard& loaded,
                           control::StageReport report);

/// A shard at work between two links. The destructor ends the stage, and waits for its own threads
/// however long one computes.
///
/// Threads: every call from any thread.
class HostedStage {
 public:
  HostedStage() = default;
  virtual ~HostedStage() = default;
  HostedStage(const HostedStage&) = delete;
  HostedStage& operator=(const HostedStage&) = delete;

  /// Takes a link that has said hello in `role`, and answers it kReady; from then on pings on it
  /// are answered. Fails: kInvalidArgument (there is one already, or the role does not fit),
  /// kClosed (the stage has ended), kExhausted (no thread for it), and as links do. The link is
  /// left to the caller unless it was taken; the stage ends if a link that it took fails.
  virtual Expected<> attach(control::Role role, std::unique_ptr<transport::Link>& link,
                            Deadline deadline) = 0;
  /// Waits for both links, starts the threads, primes the downstream link. Returns its smallest
  /// round trip; 0 if the sink connects. It is called once, and again after kTimeout. Fails:
  /// kTimeout (naming who did not connect), kClosed, kInvalidArgument (started before), and as
  /// links do.
  virtual Expected<Nanoseconds> start(TimePoint deadline) = 0;
  /// Runs `shard` from the next request on. Links, and how warm they are, stay as they are; so do
  /// counts and times. What the profile says of a request is forgotten. Returns the report before.
  /// Fails: kInvalidArgument (the stage does not run, has a request in flight, or trains);
  /// kExhausted (its downstream link was not primed for messages as large as the shard sends: open
  /// another stage).
  virtual Expected<control::StageReport> change_shard(std::shared_ptr<LoadedShard> shard) = 0;

  /// Takes no more requests; those that came are finished and sent, then kEnd. Returns at once.
  virtual void drain() = 0;
  /// Waits until the stage has ended. Returns false at the deadline.
  virtual bool wait_ended(TimePoint deadline) = 0;
  /// Ends the stage at once, requests in flight or not, and joins its threads. Returns false at the
  /// deadline: a thread still computes. The stage is then kept until another close_by() returns
  /// true.
  virtual bool close_by(TimePoint deadline) = 0;
  /// Lets other stages compute although a thread of this one, which is closed, computes on.
  virtual void let_go() = 0;

  virtual control::StageReport status() const = 0;
  virtual WatchedStage watch() const = 0;
  /// Returns since when nothing has happened: the opening of a stage that has not run yet, or its
  /// end. None if it is at work.
  virtual std::optional<TimePoint> idle_since() const = 0;
};

}  // namespace pareto::daemon
