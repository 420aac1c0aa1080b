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
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "daemon/stage/hosted_stage.h"
#include "daemon/stage/sent_bytes.h"
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

  Expected<> attach(const control::Hello& hello, std::unique_ptr<transport::Link>& link,
                    Deadline deadline) override;
  /// Refuses another shard. Fails: kInvalidArgument: it trains one shard only.
  Expected<control::StageReport> change_shard(std::shared_ptr<LoadedShard> shard) override;

 private:
  // Bodies of the stage's threads.
  void receive(TrainingLink& from, MessageQueue& queue);
  void compute();
  void send(MessageQueue& queue, TrainingLink& to);

  /// Computes what a message asks for. Returns false behind the last one. Fails: as TrainingSteps.
  Expected<bool> handle(wire::Message message);
  Expected<> evaluate(wire::Message message);
  /// Tells the sink why training ends, and ends the stage.
  void break_off(const Error& error);
  void link_ended(const Error& error);
  StageWork& work() override { return work_; }
  Expected<transport::LinkFigures> prime(std::uint64_t output_bytes, TimePoint deadline) override;
  Expected<> start_threads(const transport::LinkFigures& figures,
                           std::uint64_t output_bytes) override;
  void close_parts() override;
  void close_upstream() override { upstream_.close(); }
  std::vector<transport::PeerIdentity> peers() const override;
  std::string_view counts() const override { return "micro-batch"; }

  const bool sink_connects_;
  const bool payload_checksum_;
  const wire::Codec* const gradient_codec_;
  TrainingLink upstream_;
  TrainingLink downstream_;
  MessageQueue from_upstream_;
  MessageQueue from_downstream_;
  MessageQueue to_upstream_;
  MessageQueue to_downstream_;
  SentBytes sent_;
  StageWork work_;
  std::optional<TrainingSteps> steps_;
};

}  // namespace pareto::daemon
