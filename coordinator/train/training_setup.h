// What is trained, on what, and how: all that decides the bits of a training, but for the samples
// themselves, and what it writes. A checkpoint has it, so that a training goes on as it began.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/train/batch_order.h"
#include "coordinator/train/learning_rate.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/plan/training.h"

namespace pareto::train {

inline constexpr const char* kCrossEntropy = "cross-entropy";
inline constexpr const char* kMeanSquares = "mse";

/// A data set by what can be said of it without reading all of it.
struct DataTitle {
  std::string spec;             ///< text of --data: "cifar10:/data/cifar"
  std::string preprocessing{};  ///< path of the file that --preprocess names; empty: there is none
  std::int64_t samples = 0;
  std::int64_t classes = 0;
  Digest mark{};  ///< SHA-256 of the first sample and the last one, with their labels
  bool operator==(const DataTitle&) const = default;
};

/// Files that a training writes. They decide no bits: who goes on may name others.
struct TrainingFiles {
  std::int64_t checkpoint_every = 0;   ///< steps; 0: after each epoch only
  std::int64_t keep = 3;               ///< checkpoints that stay
  std::vector<std::string> outputs{};  ///< files of the trained model, absolute paths
  std::string csv{};                   ///< an absolute path; empty: none
  std::string report{};                ///< likewise
  bool operator==(const TrainingFiles&) const = default;
};

/// Settings of a training.
struct TrainingSetup {
  plan::ModelSource source;  ///< source from which its model is opened
  Digest model;              ///< Model::digest() before it was trained
  plan::Plan plan;           ///< cuts and devices; its batch is batches.batch
  /// Optimiser, order of passes, frozen parts and precision; what differs between stages is empty.
  plan::TrainingSettings settings;
  std::string loss = kCrossEntropy;  ///< a name, or the path of a TorchScript file
  std::optional<Digest> loss_file;   ///< SHA-256 of that file
  LearningRate rate;
  double clip_norm = 0;  ///< 0: gradients are not clipped
  BatchOptions batches;  ///< its seed is also that of dropout
  std::int64_t micro_batches = 1;
  std::int64_t epochs = 1;
  DataTitle data;
  std::optional<DataTitle> validation;
  TrainingFiles files;
};

/// Returns what makes another training of it, a sentence each: another model, plan, loss, data,
/// optimiser, rate and so on. Devices, paths, files and the number of epochs may differ. Empty: the
/// one goes on with the bits of the other.
std::vector<std::string> differences(const TrainingSetup& checkpoint, const TrainingSetup& asked);

/// Checks numbers and names. Fails: kInvalidArgument naming the value.
Expected<> check_setup(const TrainingSetup& setup);

}  // namespace pareto::train
