#include "coordinator/train/device_steps.h"

#include <thread>
#include <utility>

#include "coordinator/cluster/pipeline_health.h"
#include "coordinator/train/step_numbers.h"
#include "core/control/hello.h"
#include "core/control/training_message.h"

namespace pareto::train {

using wire::Message;
using wire::MessageKind;

Error DeviceSteps::why(const Error& error) {
  // What a stage says of a batch is the reason itself.
  if (error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kExhausted) {
    return error;
  }
  constexpr std::chrono::seconds kPatience{3};
  const auto lost = cluster::find_lost_stages(deployment_, kPatience);
  deployment_.abandon();
  if (lost.empty()) return error;
  Error reason = cluster::error_of(lost);
  if (reason.code != ErrorCode::kTimeout) reason.code = ErrorCode::kUnavailable;
  return reason;
}

Expected<Message> DeviceSteps::receive(transport::Link& link) {
  for (;;) {
    const TimePoint heard = heard_;
    auto received = link.receive(heard + timeout_);
    if (!received) {
      // The other link may have heard of a pass meanwhile.
      const bool is_late = received.error().code == ErrorCode::kTimeout;
      if (is_late && heard_.load() > heard) continue;
      return tl::unexpected(std::move(received).error());
    }
    heard_ = std::chrono::steady_clock::now();
    if (received->message.kind == MessageKind::kPong) continue;
    if (received->message.kind == MessageKind::kError) {
      return tl::unexpected(control::error_of(received->message));
    }
    return std::move(received->message);
  }
}

Expected<> DeviceSteps::send_batch(const std::vector<MicroBatch>& batch, const StepOrder& order) {
  control::TrainingPlace place{deployment_.pipeline(), order.step, 0};
  for (const MicroBatch& part : batch) {
    const plan::Target target{part.target, share_of(part, batch)};
    PARETO_TRY(
        deployment_.sink().send(control::target_message(place, target), deadline_after(timeout_)));
    ++place.micro_batch;
  }
  place.micro_batch = 0;
  for (const MicroBatch& part : batch) {
    control::TrainingInputs inputs{.micro_batches = static_cast<std::uint32_t>(batch.size()),
                                   .wants_norms = order.clip_norm > 0};
    PARETO_ASSIGN(inputs.activations.values, workload_.to_first_shard(part.inputs));
    inputs.activations.random = random_seed(order, place.micro_batch);
    PARETO_TRY(deployment_.source().send(control::train_message(place, std::move(inputs)),
                                         deadline_after(timeout_)));
    ++place.micro_batch;
  }
  return {};
}

Expected<std::vector<plan::GradientNorm>> DeviceSteps::receive_gradients(
    std::size_t micro_batches) {
  std::vector<plan::GradientNorm> norms;
  for (std::size_t i = 0; i < micro_batches; ++i) {
    PARETO_ASSIGN(Message message, receive(deployment_.source()));
    PARETO_ASSIGN(plan::Gradients gradients, control::gradients_from(std::move(message)));
    norms = std::move(gradients.norms);
  }
  return norms;
}

Expected<> DeviceSteps::receive_outcomes(const std::vector<MicroBatch>& batch,
                                         StepOutcome& outcome) {
  for (const MicroBatch& part : batch) {
    PARETO_ASSIGN(const Message message, receive(deployment_.sink()));
    PARETO_ASSIGN(const plan::Outcome of_part, control::outcome_from(message));
    add_outcome(of_part, share_of(part, batch), part.samples, outcome);
  }
  PARETO_ASSIGN(Message message, receive(deployment_.sink()));
  PARETO_ASSIGN(plan::StepCommand command, control::step_from(std::move(message)));
  outcome.stages = std::move(command.times);
  return {};
}

Expected<> DeviceSteps::send_command(const StepOrder& order, double scale) {
  plan::StepCommand command;
  command.learning_rate = order.learning_rate;
  command.scale = scale;
  PARETO_TRY(deployment_.source().send(
      control::step_message({deployment_.pipeline(), order.step, 0}, std::move(command)),
      deadline_after(timeout_)));
  return {};
}

Expected<> DeviceSteps::drive(const std::vector<MicroBatch>& batch, const StepOrder& order,
                              double& gradient_norm) {
  PARETO_TRY(send_batch(batch, order));
  // Stages take the command once they come to it, unless it follows from the gradients.
  const bool clips = order.clip_norm > 0;
  if (!clips) PARETO_TRY(send_command(order, 1));
  PARETO_ASSIGN(auto norms, receive_gradients(batch.size()));
  if (!clips) return {};
  gradient_norm = total_norm(std::move(norms));
  return send_command(order, clip_scale(gradient_norm, order.clip_norm));
}

Expected<StepOutcome> DeviceSteps::step(const std::vector<MicroBatch>& batch,
                                        const StepOrder& order) {
  PARETO_TRY(check_batch(batch));
  StepOutcome outcome;
  heard_ = std::chrono::steady_clock::now();
  Expected<> sent;
  Expected<> received;
  {
    // Gradients and losses come while micro-batches are sent.
    const std::jthread sending([&] {
      sent = drive(batch, order, outcome.gradient_norm);
      // If the pipeline broke, the sink is told why, and then it closes too.
      const bool broke = !sent && (sent.error().code == ErrorCode::kClosed ||
                                   sent.error().code == ErrorCode::kUnavailable);
      if (!sent && !broke) deployment_.sink().close();
    });
    received = receive_outcomes(batch, outcome);
    if (!received) deployment_.source().close();
  }
  // A stage's own words come to the sink; a link that closed only follows.
  if (!received && received.error().code != ErrorCode::kClosed) {
    return tl::unexpected(why(received.error()));
  }
  if (!sent) return tl::unexpected(why(sent.error()));
  if (!received) return tl::unexpected(why(received.error()));
  return outcome;
}

Expected<std::vector<Value>> DeviceSteps::evaluate(const std::vector<Value>& inputs) {
  auto evaluated = [&]() -> Expected<std::vector<Value>> {
    Message request;
    request.kind = MessageKind::kValues;
    request.pipeline = deployment_.pipeline();
    request.request = evaluations_++;
    PARETO_ASSIGN(auto values, workload_.to_first_shard(inputs));
    request.body = Tuple{std::move(values)};
    PARETO_TRY(deployment_.source().send(request, deadline_after(timeout_)));
    heard_ = std::chrono::steady_clock::now();
    PARETO_ASSIGN(Message answer, receive(deployment_.sink()));
    Tuple* const outputs = answer.body.get_if<Tuple>();
    if (answer.kind != MessageKind::kValues || outputs == nullptr) {
      return fail(ErrorCode::kCorrupt, "the answer holds {}", describe(answer.body));
    }
    return workload_.from_last_shard(outputs->items);
  }();
  if (!evaluated) return tl::unexpected(why(evaluated.error()));
  return evaluated;
}

}  // namespace pareto::train
