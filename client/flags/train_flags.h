// The flags of `train` that say how a model learns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/command.h"
#include "coordinator/data/data_set.h"
#include "coordinator/train/training_setup.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/tensor/tensor.h"

namespace pareto::client {

/// Samples, batches, loss, optimiser and rate.
struct LearningFlags {
  std::int64_t epochs = 1;
  std::optional<std::int64_t> batch;
  std::optional<std::int64_t> micro_batches;
  std::string order;
  std::string loss{train::kCrossEntropy};
  std::string optimiser = "sgd";
  std::optional<double> learning_rate;
  std::string schedule{train::kConstantRate};
  std::int64_t warm_up = 0;
  double momentum = 0;
  bool nesterov = false;
  std::optional<double> weight_decay;
  double clip_norm = 0;
  std::vector<std::string> freeze;
  std::string precision = "fp32";
  std::uint64_t seed = 0;
  bool no_shuffle = false;
  bool drop_smaller = false;

  void add_to(CLI::App& app);
  /// Puts them into a setup. `plan`: that of --plan, whose batch and micro-batches are taken if no
  /// flag says others; null: there is none. Fails: kInvalidArgument naming the flag.
  Expected<> read(const plan::Plan* plan, train::TrainingSetup& setup) const;

 private:
  void read_batch(const plan::Plan* plan, train::TrainingSetup& setup) const;
};

/// The flags that name the data of a training.
struct TrainDataFlags {
  std::string data;
  std::string validate;
  std::string preprocessing;

  void add_to(CLI::App& app);
  /// Takes what was not given from an earlier training.
  void complete(const train::TrainingSetup& earlier);
};

struct TrainData {
  std::unique_ptr<data::DataSet> training;
  std::unique_ptr<data::DataSet> validation;  ///< null: there is none
};

/// Opens the data of a training for samples of that shape, and writes their titles into the setup.
/// `classes`: those that the model tells apart; 0: not known. Fails: as open_data_set() and
/// DataSet::sample(), naming the flag.
Expected<TrainData> open_train_data(const TrainDataFlags& flags, const Shape& input_shape,
                                    std::int64_t classes, train::TrainingSetup& setup);

}  // namespace pareto::client
