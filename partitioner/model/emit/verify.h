// Cuts against the whole model: prefix -> boundary values -> suffix must give what the uncut model
// gives.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/model/graph/named_cuts.h"
#include "runtime/shard_runner.h"

namespace pareto::model {

struct VerifyOptions {
  std::vector<std::int64_t> batches{1, 3, 8};
  std::vector<Cut> cuts;
  runtime::RunnerOptions
      runner;  ///< engine "plain": bits are compared; others: the error is stated
  std::uint64_t seed = 0;
  double most_error =
      std::numeric_limits<double>::infinity();  ///< a larger relative error has failed
};

struct VerifyRow {
  std::size_t cut = 0;  ///< index into VerifyOptions::cuts
  std::int64_t batch = 0;
  std::string sizes{};  ///< "H = 192, W = 192", if those of the inputs vary
  bool bit_equal = false;
  double relative_error = 0;  ///< against the whole model in the plain engine
  std::string failure;  ///< it could not be run, or its error is infinite or too large, and why
};

/// Compares cuts with the whole model: each is two shards. Calls on_row after each row, in order.
/// Fails only if the whole model itself cannot be run.
Expected<std::vector<VerifyRow>> verify(const Model& model, const VerifyOptions& options,
                                        const std::function<void(const VerifyRow&)>& on_row);

/// Compares many cuts with the whole model, in little more time than a few take, if they are close
/// to each other: the operators between two cuts are a shard, and each runs once a batch. A cut is
/// equal if shards lead from the inputs to the values that cross it, and from these to the whole
/// model's outputs. Values that several shards compute have to be equal too. Rows come when all are
/// known. For models that draw random numbers it is verify().
/// Fails: as verify(); kInvalidArgument (an engine that is not "plain").
Expected<std::vector<VerifyRow>> verify_together(
    const Model& model, const VerifyOptions& options,
    const std::function<void(std::size_t done, std::size_t total)>& on_shard);

/// The outputs of the uncut model at one batch and one size of its inputs.
struct WholeRun {
  std::int64_t batch = 0;
  std::string sizes{};  ///< see VerifyRow::sizes
  std::vector<Value> inputs;
  Value outputs;
};
/// Runs the uncut model at each batch of the options, and at the least sizes of its inputs if these
/// vary. Fails: as Model::run_whole.
Expected<std::vector<WholeRun>> whole_runs(const Model& model, const VerifyOptions& options);

}  // namespace pareto::model
