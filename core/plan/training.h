// How a shard is trained: what a coordinator tells each stage of a pipeline that trains. Format of
// its JSON: core/plan/FORMAT.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plan/shard.h"

namespace pareto::plan {

/// An optimiser and its constants, with PyTorch's meaning and defaults.
struct Optimiser {
  std::string name = "sgd";  ///< "sgd", "adam", "adamw"
  double momentum = 0;       ///< sgd
  bool nesterov = false;     ///< sgd, with momentum
  double weight_decay = 0;
  double beta1 = 0.9;     ///< adam, adamw
  double beta2 = 0.999;   ///< adam, adamw
  double epsilon = 1e-8;  ///< adam, adamw
  bool operator==(const Optimiser&) const = default;
};

/// Checks the name and the range of each constant. Fails: kInvalidArgument.
Expected<> check(const Optimiser& optimiser);

/// A parameter that several stages have, such as tied embeddings. Its gradients are summed from the
/// last stage to the first, which hands the sum back to all with the step.
struct TiedParameter {
  std::string name;
  bool earlier = false;  ///< a stage before this one has it too
  bool later = false;    ///< a stage behind this one has it too
  bool operator==(const TiedParameter&) const = default;
};

/// The most stages, and the most micro-batches in a step.
inline constexpr std::uint32_t kMostTrainingStages = 1024;
inline constexpr std::uint32_t kMostMicroBatches = 1024;
/// The most bytes of a TrainingSettings as text.
inline constexpr std::size_t kMostTrainingBytes = 16 << 20;

struct TrainingSettings {
  /// Tells trainings apart that use equal shards: each has parameters of its own.
  std::string id{};
  std::uint32_t stage = 0;  ///< 0 is the first
  std::uint32_t stages = 1;
  std::string order = "1f1b";  ///< a name from core/plan/training_order.h
  Optimiser optimiser{};
  /// Module paths whose parameters stay as they are. What is at or under them runs as in
  /// evaluation.
  std::vector<std::string> frozen{};
  bool bf16 = false;  ///< forward passes compute in bf16 what may be (autocast)
  /// The codec by which gradients travel to the stage before; empty: they travel as they are.
  std::string gradient_codec{};
  std::vector<TiedParameter> tied{};
  /// Tensors of an earlier training to begin with, which the device's store has. Names are as in
  /// Trainer::state().
  std::vector<WeightRef> state{};
};

/// Returns whether a module path is one of `frozen`, or lies under one.
bool is_frozen(const std::vector<std::string>& frozen, const std::string& path);

/// Writes them as JSON text; and reads it, with every count, size and name of foreign text checked.
std::string training_json(const TrainingSettings& settings);
Expected<TrainingSettings> training_from_json(const std::string& json);

}  // namespace pareto::plan
