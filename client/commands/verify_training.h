// Cuts in training against the whole model: verify --trainable.
//
//   Cuts ──chains of cuts, each behind the one before it──▶ one step of a pipeline with all of them
//        ──a chain that differs is halved──▶ a row for each cut
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "client/command.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/model/graph/named_cuts.h"

namespace pareto::client::commands {

struct TrainedRow {
  std::size_t cut = 0;  ///< index of the cut
  std::int64_t batch = 0;
  /// First difference from the whole model, or the reason why the step failed; empty: no bit
  /// differs.
  std::string difference;
};

/// Puts cuts into chains, each cut behind the one before it: as indices, few chains. `cuts`:
/// smaller sets first.
std::vector<std::vector<std::size_t>> chains_of(const std::vector<model::Cut>& cuts);

/// Replays a step of training with each cut, on made-up samples at each batch: loss, gradients,
/// parameters and statistics against the whole model's. Cuts of a chain are stages of one pipeline.
/// Shows progress. Says on stderr at which batches the whole model cannot be trained, because norms
/// need more than one number. Rows come by batch, then by cut. Fails: as open_any_loss();
/// kInvalidArgument (the whole model can be trained at none of the batches).
Expected<std::vector<TrainedRow>> verify_training(Context& context, const model::Model& model,
                                                  const std::vector<model::Cut>& cuts,
                                                  const std::vector<std::int64_t>& batches,
                                                  int threads);

}  // namespace pareto::client::commands
