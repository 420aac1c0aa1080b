// One step after the other of a stage that trains: which message it waits for, what it computes,
// and what it sends.
#pragma once

#include <cstdint>
#include <functional>

#include "core/base/bounded_queue.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/control/training_message.h"
#include "core/plan/training.h"
#include "core/plan/training_order.h"
#include "core/wire/message.h"
#include "daemon/stage/sent_bytes.h"
#include "daemon/stage/stage_context.h"
#include "daemon/stage/stage_work.h"

namespace pareto::daemon {

/// Messages that wait, in order.
using MessageQueue = BoundedQueue<wire::Message>;

/// The queues of a stage that trains. All of them outlive its steps.
struct TrainingQueues {
  MessageQueue& from_upstream;    ///< micro-batches, and the command to step
  MessageQueue& from_downstream;  ///< gradients; at the last stage targets
  MessageQueue& to_upstream;      ///< gradients
  MessageQueue& to_downstream;    ///< activations; at the last stage losses
};

/// Runs the passes of steps in the order that the stage's settings name.
///
/// Threads: one.
class TrainingSteps {
 public:
  /// `sent`: what the sending threads count of messages that counts() names. `context`, `work` and
  /// it outlive this.
  TrainingSteps(const StageContext& context, StageWork& work, plan::TrainingSettings settings,
                TrainingQueues queues, SentBytes& sent);

  /// Returns whether a message counts among the bytes of a step.
  static bool counts(const wire::Message& message) {
    return message.kind == wire::MessageKind::kTrain ||
           message.kind == wire::MessageKind::kGradient;
  }

  /// Runs the step that `first`, its first micro-batch, begins. Fails: kClosed (a queue was
  /// closed, or the end came), kCorrupt (a message that does not follow), and as trainers do.
  Expected<> run(wire::Message first);

 private:
  Expected<> go_forward(std::uint32_t micro_batch, control::TrainingInputs inputs);
  Expected<> go_backward(std::uint32_t micro_batch, bool with_norms);
  Expected<> take_step();
  /// Waits for a message of this step. Fails: kCorrupt (another kind, step or micro-batch), kClosed
  /// (the end came).
  Expected<wire::Message> next(MessageQueue& queue, wire::MessageKind kind,
                               std::uint32_t micro_batch);
  Expected<> send(MessageQueue& queue, wire::Message message);
  /// Calls a pass in a turn of the device, and adds what it took to `time`.
  Expected<> compute(Nanoseconds& time, const std::function<Expected<>(runtime::Trainer&)>& pass);
  control::TrainingPlace place(std::uint32_t micro_batch) const {
    return {context_.pipeline, step_, micro_batch};
  }
  bool is_last() const { return settings_.stage + 1 == settings_.stages; }

  const StageContext& context_;
  StageWork& work_;
  const plan::TrainingSettings settings_;
  const TrainingQueues queues_;
  SentBytes& sent_;
  std::uint64_t step_ = 0;
  std::uint64_t messages_ = 0;  ///< messages of the step that count, on their way or sent
  plan::StageStepTimes times_;
};

}  // namespace pareto::daemon
