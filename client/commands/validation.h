// Validates cuts by replay before they are used: prefix and suffix against the whole model, at
// several batches. What was found equal is remembered by the model's digest.
//
//   Cuts ──validate──▶ model::verify, train::training_difference ──▶ ValidationMemory
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/commands/batch_range.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/model/graph/named_cuts.h"

namespace CLI {
class App;
}

namespace pareto::client {
struct Context;
}  // namespace pareto::client

namespace pareto::client::commands {

/// A folder with one small JSON file a model: the batches at which each cut was found equal to the
/// whole model, by a version of LibTorch. Threads: one owner.
class ValidationMemory {
 public:
  explicit ValidationMemory(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Returns the batches at which a cut was found equal; none if nothing is known. `trained`: in
  /// training, else in inference.
  std::set<std::int64_t> recall(const Digest& model, const model::Cut& cut,
                                bool trained = false) const;
  /// Stores the batches that a cut was verified at. Fails: as write_file_atomically().
  Expected<> remember(const Digest& model, const model::Cut& cut,
                      const std::set<std::int64_t>& batches, bool trained = false) const;

 private:
  std::filesystem::path file_of(const Digest& model) const;

  std::filesystem::path folder_;
};

/// Adds --batch-range.
void add_batch_range(CLI::App& app, std::string& text);

/// Returns the batches to validate at: the given one, another one, and the largest of the range; of
/// a model that runs at one batch only that one.
std::set<std::int64_t> validated_batches(const model::Model& model, std::int64_t batch,
                                         const std::optional<BatchRange>& range);

/// Opens a built-in loss that takes the model's outputs. Fails: as open_loss(), with the first.
Expected<model::Model> open_any_loss(const model::Model& model);

/// Returns the cuts between the stages of a plan.
std::vector<model::Cut> cuts_of(const plan::Plan& plan);
/// Replays cuts, if they are sets of operators or a range is given, at the batches at which nobody
/// did. Says on stderr what it found. Fails: kInvalidArgument naming the cut and the batch at which
/// it is not equal.
Expected<> validate(Context& context, const model::Model& model,
                    const std::vector<model::Cut>& cuts, std::int64_t batch,
                    const std::optional<BatchRange>& range);
/// Replays a step of training with each cut, at the same batches, unless somebody did: loss,
/// gradients and parameters. A model whose outputs go into no built-in loss is not replayed, which
/// is said on stderr. Fails: kInvalidArgument naming the cut, the batch, and what is not equal.
Expected<> validate_training(Context& context, const model::Model& model,
                             const std::vector<model::Cut>& cuts, std::int64_t batch,
                             const std::optional<BatchRange>& range);
/// Replays a step of a training with each cut, at the sizes of its micro-batches, unless somebody
/// did: gradients that cross lie in memory as they came, and LibTorch may add them up in another
/// order. Fails: as validate_training().
Expected<> validate_trained(Context& context, const model::Model& model, const model::Model& loss,
                            const std::vector<model::Cut>& cuts,
                            const std::vector<std::int64_t>& micro_batches);

}  // namespace pareto::client::commands
