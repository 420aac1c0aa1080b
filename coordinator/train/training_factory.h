// What the stages of any plan are told when a deployment opens that trains a model.
#pragma once

#include <string>
#include <vector>

#include "coordinator/cluster/deployment.h"
#include "core/plan/training.h"
#include "core/plan/training_values.h"
#include "partitioner/model/graph/model.h"

namespace pareto::train {

/// Returns what DeploymentOptions::training takes. `loss` takes the model's output and the target.
/// `state`: that of an earlier training to go on from; empty: the model's own weights.
/// `gradient_codec`: the codec by which gradients travel between stages, a name from
/// core/wire/codec.h; empty: they travel as they are. The models outlive it; the state is copied.
/// It fails: kInvalidArgument (a device whose daemon does not train, replicas), and as
/// training_stages(), emit_shard() and DaemonClient::put_tensors() do.
cluster::TrainingFactory training_factory(const model::Model& model, const model::Model& loss,
                                          plan::TrainingSettings settings,
                                          std::vector<plan::StateTensor> state,
                                          std::string gradient_codec = "");

}  // namespace pareto::train
