// A stage that trains: values come and go as in any stage, and gradients go the other way.
//
//   upstream ══▶ from_upstream   ══▶ TrainingSteps ══▶ to_downstream   ══▶ downstream
//            ◀══ to_upstream     ◀══  (one thread)  ◀══ from_downstream ◀══
//
// Each arrow at a link has a thread of its own, so that what is computed next arrives meanwhile.
// Requests of kind kValues are evaluated with the parameters of that moment.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "daemon/stage/hosted_stage.h"
#include "daemon/stage/stage.h"
#include "daemon/stage/stage_context.h"
#include "daemon/stage/stage_threads.h"
#include "daemon/stage/stage_work.h"
#include "daemon/stage/training_link.h"
#include "daemon/stage/training_steps.h"

namespace pareto::daemon {

/// One stage of a pipeline that trains. A failure ends it: its error goes downstream to the sink,
/// and both links close, so that the neighbours end too. drain() gives up a step that is under
/// way.
///
/// Owned by StageHost. Threads: every call from any thread.
class TrainingStage final : public HostedStage {
 public:
  /// Its shard is one that trains.
  explicit TrainingStage(StageParts parts);
  ~TrainingStage() override;

  Expected<> attach(control::Role role, std::unique_ptr<transport::Link>& link,
                    Deadline deadline) override;
  Expected<Nanoseconds> start(TimePoint deadline) override;
  /// Fails: kInvalidArgument: it trains one shard only.
  Expected<control::StageReport> change_shard(std::shared_ptr<LoadedShard> shard) override;
  void drain() override;
  bool wait_ended(TimePoint deadline) override;
  bool close_by(TimePoint deadline) override;
  void let_go() override { work_.let_go(); }
  control::StageReport status() const override;
  WatchedStage watch() const override;
  std::optional<TimePoint> idle_since() const override;

 private:
  // Bodies of the stage's threads.
  void receive(TrainingLink& from, MessageQueue& queue);
  void compute();
  void send(MessageQueue& queue, TrainingLink& to);

  /// Computes what a message asks for. Returns false behind the last one. Fails: as TrainingSteps.
  Expected<bool> handle(wire::Message message);
  Expected<> evaluate(wire::Message message);
  Expected<> start_threads();
  Expected<> start_thread(std::function<void()> body);
  /// Tells the sink why training ends, and ends the stage.
  void break_off(const Error& error);
  void link_ended(const Error& error);
  /// Ends the stage once: the first reason counts. Without `failure` it is closed in order.
  void end(std::optional<std::string> failure);
  bool is_draining() const;

  const StageContext context_;
  const bool sink_connects_;
  const bool payload_checksum_;
  const wire::Codec* const gradient_codec_;
  TrainingLink upstream_;
  TrainingLink downstream_;
  MessageQueue from_upstream_;
  MessageQueue from_downstream_;
  MessageQueue to_upstream_;
  MessageQueue to_downstream_;
  StageWork work_;
  std::optional<TrainingSteps> steps_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  control::StageState state_ = control::StageState::kOpening;
  std::string failure_;
  const TimePoint opened_at_ = std::chrono::steady_clock::now();
  std::optional<TimePoint> ended_at_;
  bool has_upstream_ = false;
  bool has_downstream_;
  bool started_ = false;
  std::atomic<bool> ended_{false};

  StageThreads threads_;
};

}  // namespace pareto::daemon
