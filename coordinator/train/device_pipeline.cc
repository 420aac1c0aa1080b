#include "coordinator/train/device_pipeline.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "coordinator/cluster/pipeline_health.h"
#include "coordinator/train/step_numbers.h"
#include "coordinator/train/training_stages.h"
#include "core/base/digest.h"
#include "core/control/hello.h"
#include "core/control/training_message.h"
#include "core/plan/shard.h"
#include "partitioner/model/emit/emit.h"

namespace pareto::train {
namespace {

using wire::Message;
using wire::MessageKind;

std::string random_id() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

Expected<> check_plan(const plan::Plan& plan, const cluster::Cluster& cluster) {
  if (plan.replicated) {
    return fail(ErrorCode::kInvalidArgument, "replicas do not train: take a plan of one pipeline");
  }
  for (const plan::StagePlan& stage : plan.stages) {
    PARETO_ASSIGN(const cluster::DaemonClient* const device, cluster.find(stage.device));
    if (device->info().trains) continue;
    return fail(ErrorCode::kInvalidArgument,
                "{} runs paretod {}, which does not train: install this version there",
                stage.device, device->info().version);
  }
  return {};
}

/// Sends the tensors that a stage needs next to its shard's weights: those of an earlier training,
/// and of the loss.
Expected<> send_tensors(cluster::DaemonClient& device, const std::vector<plan::WeightRef>& wanted,
                        const runtime::WeightSource& source) {
  if (wanted.empty()) return {};
  std::vector<Digest> digests;
  for (const plan::WeightRef& tensor : wanted) digests.push_back(tensor.digest);
  PARETO_ASSIGN(const auto missing, device.missing_tensors(digests));
  std::set<Digest> left(missing.begin(), missing.end());
  std::vector<cluster::NamedTensor> tensors;
  for (const plan::WeightRef& tensor : wanted) {
    if (left.erase(tensor.digest) == 0) continue;
    PARETO_ASSIGN(Tensor bytes, source(tensor.digest));
    tensors.push_back({tensor.digest, std::move(bytes)});
  }
  if (tensors.empty()) return {};
  return device.put_tensors(tensors);
}

/// Bytes of a stage's state: its weights, and at most two copies for the optimiser.
std::uint64_t most_state_bytes(const cluster::ResidentShard& shard) {
  constexpr std::uint64_t kCopies = 3;
  constexpr std::uint64_t kRoom = 1 << 20;
  return kCopies * shard.weight_bytes + kRoom;
}

}  // namespace

Expected<std::unique_ptr<DevicePipeline>> DevicePipeline::open(
    const model::Model& model, const model::Model& loss, const plan::Plan& plan,
    const plan::TrainingSettings& settings, const std::vector<plan::StateTensor>& state,
    const cluster::Cluster& cluster, cluster::ShardPool& pool, cluster::TransportSet& transports,
    const DevicePipelineOptions& options) {
  PARETO_TRY(check_plan(plan, cluster));
  PARETO_ASSIGN(std::vector<TrainingStage> stages, training_stages(model, plan, settings, state));
  const auto operators = static_cast<std::int64_t>(loss.graph().operators.size());
  PARETO_ASSIGN(const plan::Shard loss_shard,
                with_context(emit_shard(loss, 0, operators), "the loss"));
  const runtime::WeightSource weights = training_weights(model, loss, state);
  const std::string id = random_id();
  cluster::DeploymentOptions deployed = options.deployment;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    TrainingStage& stage = stages[i];
    stage.settings.id = fmt::format("{}/{}", id, i);
    if (i > 0) stage.settings.gradient_codec = options.gradient_codec;
    std::vector<plan::WeightRef> tensors = stage.settings.state;
    cluster::StageTraining training{.settings = plan::training_json(stage.settings)};
    if (i + 1 == stages.size()) {
      training.loss_manifest = plan::manifest_json(loss_shard);
      training.loss_archive = loss_shard.archive;
      std::ranges::copy(loss_shard.weights, std::back_inserter(tensors));
    }
    PARETO_ASSIGN(cluster::DaemonClient * device, cluster.find(plan.stages[i].device));
    PARETO_TRY(send_tensors(*device, tensors, weights));
    deployed.training.push_back(std::move(training));
  }
  PARETO_ASSIGN(auto deployment,
                cluster::Deployment::open(plan, cluster, pool, transports, deployed));
  return std::unique_ptr<DevicePipeline>(
      new DevicePipeline(model, options.timeout, std::move(deployment)));
}

DevicePipeline::DevicePipeline(const model::Model& model, std::chrono::milliseconds timeout,
                               std::unique_ptr<cluster::Deployment> deployment)
    : workload_(model), timeout_(timeout), deployment_(std::move(deployment)) {
  for (const cluster::DaemonClient* const device : deployment_->devices()) {
    names_.push_back(device->config().name);
  }
}

DevicePipeline::~DevicePipeline() = default;

Error DevicePipeline::why(const Error& error) {
  // What a stage says of a batch is the reason itself.
  if (error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kExhausted) {
    return error;
  }
  constexpr std::chrono::seconds kPatience{3};
  const auto lost = cluster::find_lost_stages(*deployment_, kPatience);
  deployment_->abandon();
  if (lost.empty()) return error;
  Error reason = cluster::error_of(lost);
  if (reason.code != ErrorCode::kTimeout) reason.code = ErrorCode::kUnavailable;
  return reason;
}

Expected<Message> DevicePipeline::receive(transport::Link& link) {
  for (;;) {
    auto received = link.receive(deadline_after(timeout_));
    if (!received) return tl::unexpected(std::move(received).error());
    if (received->message.kind == MessageKind::kPong) continue;
    if (received->message.kind == MessageKind::kError) {
      return tl::unexpected(control::error_of(received->message));
    }
    return std::move(received->message);
  }
}

Expected<> DevicePipeline::send_batch(const std::vector<MicroBatch>& batch,
                                      const StepOrder& order) {
  control::TrainingPlace place{deployment_->pipeline(), order.step, 0};
  for (const MicroBatch& part : batch) {
    const plan::Target target{part.target, share_of(part, batch)};
    PARETO_TRY(
        deployment_->sink().send(control::target_message(place, target), deadline_after(timeout_)));
    ++place.micro_batch;
  }
  place.micro_batch = 0;
  for (const MicroBatch& part : batch) {
    control::TrainingInputs inputs{.micro_batches = static_cast<std::uint32_t>(batch.size()),
                                   .wants_norms = order.clip_norm > 0};
    PARETO_ASSIGN(inputs.activations.values, workload_.to_first_shard(part.inputs));
    inputs.activations.random = random_seed(order, place.micro_batch);
    PARETO_TRY(deployment_->source().send(control::train_message(place, std::move(inputs)),
                                          deadline_after(timeout_)));
    ++place.micro_batch;
  }
  return {};
}

Expected<std::vector<plan::GradientNorm>> DevicePipeline::receive_gradients(
    std::size_t micro_batches) {
  std::vector<plan::GradientNorm> norms;
  for (std::size_t i = 0; i < micro_batches; ++i) {
    PARETO_ASSIGN(Message message, receive(deployment_->source()));
    PARETO_ASSIGN(plan::Gradients gradients, control::gradients_from(std::move(message)));
    norms = std::move(gradients.norms);
  }
  return norms;
}

Expected<> DevicePipeline::receive_outcomes(const std::vector<MicroBatch>& batch,
                                            StepOutcome& outcome) {
  for (const MicroBatch& part : batch) {
    PARETO_ASSIGN(const Message message, receive(deployment_->sink()));
    PARETO_ASSIGN(const plan::Outcome of_part, control::outcome_from(message));
    add_outcome(of_part, share_of(part, batch), part.samples, outcome);
  }
  PARETO_ASSIGN(Message message, receive(deployment_->sink()));
  PARETO_ASSIGN(plan::StepCommand command, control::step_from(std::move(message)));
  outcome.stages = std::move(command.times);
  return {};
}

Expected<StepOutcome> DevicePipeline::step(const std::vector<MicroBatch>& batch,
                                           const StepOrder& order) {
  PARETO_TRY(check_batch(batch));
  StepOutcome outcome;
  Expected<> sent;
  Expected<> received;
  {
    // Gradients and losses come while micro-batches are sent.
    const std::jthread sending([&] {
      sent = [&]() -> Expected<> {
        const auto command = [&](double scale) -> Expected<> {
          plan::StepCommand step;
          step.learning_rate = order.learning_rate;
          step.scale = scale;
          PARETO_TRY(deployment_->source().send(
              control::step_message({deployment_->pipeline(), order.step, 0}, step),
              deadline_after(timeout_)));
          return {};
        };
        PARETO_TRY(send_batch(batch, order));
        // Stages take the command once they come to it, unless it follows from the gradients.
        if (order.clip_norm == 0) PARETO_TRY(command(1));
        PARETO_ASSIGN(const auto norms, receive_gradients(batch.size()));
        if (order.clip_norm == 0) return {};
        outcome.gradient_norm = total_norm(norms);
        return command(clip_scale(outcome.gradient_norm, order.clip_norm));
      }();
      // Nothing follows on the other link.
      if (!sent) deployment_->sink().close();
    });
    received = receive_outcomes(batch, outcome);
    if (!received) deployment_->source().close();
  }
  // A stage's own words come to the sink; a link that closed only follows.
  if (!received && received.error().code != ErrorCode::kClosed) {
    return tl::unexpected(why(received.error()));
  }
  if (!sent) return tl::unexpected(why(sent.error()));
  if (!received) return tl::unexpected(why(received.error()));
  return outcome;
}

Expected<std::vector<Value>> DevicePipeline::evaluate(std::vector<Value> inputs) {
  const auto evaluated = [&]() -> Expected<std::vector<Value>> {
    Message request;
    request.kind = MessageKind::kValues;
    request.pipeline = deployment_->pipeline();
    request.request = evaluations_++;
    PARETO_ASSIGN(auto values, workload_.to_first_shard(inputs));
    request.body = Tuple{std::move(values)};
    PARETO_TRY(deployment_->source().send(request, deadline_after(timeout_)));
    PARETO_ASSIGN(Message answer, receive(deployment_->sink()));
    Tuple* const outputs = answer.body.get_if<Tuple>();
    if (answer.kind != MessageKind::kValues || outputs == nullptr) {
      return fail(ErrorCode::kCorrupt, "the answer holds {}", describe(answer.body));
    }
    return workload_.from_last_shard(outputs->items);
  }();
  if (!evaluated) return tl::unexpected(why(evaluated.error()));
  return evaluated;
}

Expected<std::vector<plan::StateTensor>> DevicePipeline::state() {
  std::map<std::string, Tensor> by_name;
  for (std::size_t i = 0; i < deployment_->devices().size(); ++i) {
    const cluster::ResidentShard& shard = *deployment_->shards()[i];
    PARETO_ASSIGN(auto state, deployment_->devices()[i]->training_state(shard.loaded.handle,
                                                                        most_state_bytes(shard)));
    for (plan::StateTensor& entry : state) {
      by_name.emplace(std::move(entry.name), std::move(entry.tensor));
    }
  }
  std::vector<plan::StateTensor> all;
  for (auto& [name, tensor] : by_name) all.push_back({name, std::move(tensor)});
  return all;
}

}  // namespace pareto::train
