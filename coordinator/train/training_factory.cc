#include "coordinator/train/training_factory.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <set>
#include <utility>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/train/training_stages.h"
#include "core/base/digest.h"
#include "core/plan/shard.h"
#include "partitioner/model/emit/emit.h"

namespace pareto::train {
namespace {

std::string random_id() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

Expected<> check_devices(const plan::Plan& plan,
                         const std::vector<cluster::DaemonClient*>& devices) {
  if (plan.replicated) {
    return fail(ErrorCode::kInvalidArgument, "replicas do not train: take a plan of one pipeline");
  }
  for (const cluster::DaemonClient* const device : devices) {
    if (device->info().trains) continue;
    return fail(ErrorCode::kInvalidArgument,
                "{} runs paretod {}, which does not train: install this version there",
                device->config().name, device->info().version);
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

}  // namespace

cluster::TrainingFactory training_factory(const model::Model& model, const model::Model& loss,
                                          plan::TrainingSettings settings,
                                          std::vector<plan::StateTensor> state,
                                          std::string gradient_codec) {
  return [&model, &loss, settings = std::move(settings), state = std::move(state),
          gradient_codec = std::move(gradient_codec)](
             const plan::Plan& plan, const std::vector<cluster::DaemonClient*>& devices)
             -> Expected<std::vector<cluster::StageTraining>> {
    PARETO_TRY(check_devices(plan, devices));
    PARETO_ASSIGN(std::vector<TrainingStage> stages, training_stages(model, plan, settings, state));
    const auto operators = static_cast<std::int64_t>(loss.graph().operators.size());
    PARETO_ASSIGN(const plan::Shard loss_shard,
                  with_context(emit_shard(loss, 0, operators), "the loss"));
    const runtime::WeightSource weights = training_weights(model, loss, state);
    const std::string id = random_id();
    std::vector<cluster::StageTraining> trainings;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      TrainingStage& stage = stages[i];
      stage.settings.id = fmt::format("{}/{}", id, i);
      if (i > 0) stage.settings.gradient_codec = gradient_codec;
      std::vector<plan::WeightRef> tensors = stage.settings.state;
      cluster::StageTraining training{.settings = plan::training_json(stage.settings)};
      if (i + 1 == stages.size()) {
        training.loss_manifest = plan::manifest_json(loss_shard);
        training.loss_archive = loss_shard.archive;
        std::ranges::copy(loss_shard.weights, std::back_inserter(tensors));
      }
      PARETO_TRY(send_tensors(*devices[i], tensors, weights));
      trainings.push_back(std::move(training));
    }
    return trainings;
  };
}

}  // namespace pareto::train
