#include "daemon/stage/training_steps.h"

#include <iterator>
#include <utility>

#include "runtime/training/trainer.h"

namespace pareto::daemon {

using runtime::Trainer;
using wire::Message;
using wire::MessageKind;

TrainingSteps::TrainingSteps(const StageContext& context, StageWork& work,
                             plan::TrainingSettings settings, TrainingQueues queues,
                             SentBytes& sent)
    : context_(context),
      work_(work),
      settings_(std::move(settings)),
      queues_(queues),
      sent_(sent) {}

Expected<> TrainingSteps::run(Message first) {
  step_ = first.request;
  times_ = {};
  messages_ = 0;
  if (first.sequence != 0) {
    return fail(ErrorCode::kCorrupt, "step {} begins with micro-batch {}", step_, first.sequence);
  }
  PARETO_ASSIGN(control::TrainingInputs inputs, control::train_inputs_from(std::move(first)));
  const std::uint32_t micro_batches = inputs.micro_batches;
  const bool with_norms = inputs.wants_norms;
  for (const plan::TrainingPass& pass :
       plan::training_passes(settings_.order, settings_.stage, settings_.stages, micro_batches)) {
    if (pass.backward) {
      PARETO_TRY(
          go_backward(pass.micro_batch, with_norms && pass.micro_batch + 1 == micro_batches));
      continue;
    }
    if (pass.micro_batch > 0) {
      PARETO_ASSIGN(Message message,
                    next(queues_.from_upstream, MessageKind::kTrain, pass.micro_batch));
      PARETO_ASSIGN(inputs, control::train_inputs_from(std::move(message)));
    }
    PARETO_TRY(go_forward(pass.micro_batch, std::exchange(inputs, {})));
  }
  return take_step();
}

Expected<> TrainingSteps::go_forward(std::uint32_t micro_batch, control::TrainingInputs inputs) {
  ++context_.meter->requests;
  if (is_last()) {
    PARETO_ASSIGN(Message message, next(queues_.from_downstream, MessageKind::kTrain, micro_batch));
    PARETO_ASSIGN(const plan::Target target, control::target_from(std::move(message)));
    plan::Outcome outcome;
    PARETO_TRY(compute(times_.forward, [&](Trainer& trainer) -> Expected<> {
      PARETO_ASSIGN(outcome, trainer.forward_to_loss(micro_batch, inputs.activations, target));
      return {};
    }));
    return send(queues_.to_downstream, control::outcome_message(place(micro_batch), outcome));
  }
  PARETO_TRY(compute(times_.forward, [&](Trainer& trainer) -> Expected<> {
    PARETO_ASSIGN(inputs.activations, trainer.forward(micro_batch, inputs.activations));
    return {};
  }));
  return send(queues_.to_downstream, control::train_message(place(micro_batch), std::move(inputs)));
}

Expected<> TrainingSteps::go_backward(std::uint32_t micro_batch, bool with_norms) {
  plan::Gradients gradients;
  if (!is_last()) {
    PARETO_ASSIGN(Message message,
                  next(queues_.from_downstream, MessageKind::kGradient, micro_batch));
    PARETO_ASSIGN(gradients, control::gradients_from(std::move(message)));
  }
  PARETO_TRY(compute(times_.backward, [&](Trainer& trainer) -> Expected<> {
    PARETO_ASSIGN(gradients, trainer.backward(micro_batch, std::move(gradients)));
    if (!with_norms) return {};
    PARETO_ASSIGN(auto norms, trainer.norms());
    std::ranges::move(norms, std::back_inserter(gradients.norms));
    return {};
  }));
  ++context_.meter->answered;
  return send(queues_.to_upstream,
              control::gradient_message(place(micro_batch), std::move(gradients)));
}

Expected<> TrainingSteps::take_step() {
  PARETO_ASSIGN(Message message, next(queues_.from_upstream, MessageKind::kStep, 0));
  PARETO_ASSIGN(plan::StepCommand command, control::step_from(std::move(message)));
  PARETO_TRY(compute(times_.optimiser, [&](Trainer& trainer) -> Expected<> {
    PARETO_ASSIGN(command, trainer.step(std::move(command)));
    return {};
  }));
  // The peers have these messages, or take them now: the wait is short.
  PARETO_ASSIGN(times_.bytes_sent, sent_.take(messages_));
  command.times.push_back(times_);
  return send(queues_.to_downstream, control::step_message(place(0), std::move(command)));
}

Expected<Message> TrainingSteps::next(MessageQueue& queue, MessageKind kind,
                                      std::uint32_t micro_batch) {
  const TimePoint asked = std::chrono::steady_clock::now();
  PARETO_ASSIGN(Message message, queue.pop());
  times_.waiting += std::chrono::steady_clock::now() - asked;
  if (message.kind == MessageKind::kEnd) {
    return fail(ErrorCode::kClosed, "step {} was given up", step_);
  }
  if (message.kind != kind || message.request != step_ || message.sequence != micro_batch) {
    return fail(ErrorCode::kCorrupt,
                "a message of kind {} for micro-batch {} of step {} came, where kind {} for {} of "
                "{} follows",
                static_cast<int>(message.kind), message.sequence, message.request,
                static_cast<int>(kind), micro_batch, step_);
  }
  return message;
}

Expected<> TrainingSteps::send(MessageQueue& queue, Message message) {
  if (counts(message)) {
    ++messages_;
    times_.bytes_raw += tensor_bytes(message.body);
  }
  return queue.push(std::move(message));
}

Expected<> TrainingSteps::compute(Nanoseconds& time,
                                  const std::function<Expected<>(Trainer&)>& pass) {
  PARETO_ASSIGN(const TrainingTimes took, work_.train(pass));
  time += took.compute;
  times_.waiting += took.waited;
  return {};
}

}  // namespace pareto::daemon
