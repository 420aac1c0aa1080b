// Every split point against the whole model: prefix -> boundary values -> suffix must give what the
// uncut model gives.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/runtime/shard_runner.h"
#include "partitioner/model/graph/model.h"

namespace pareto::model {

struct VerifyOptions {
  std::vector<std::int64_t> batches{1, 3, 8};
  std::vector<std::size_t> points;  ///< indices into model.split_points()
  runtime::RunnerOptions
      runner;  ///< engine "plain": bits are compared; others: the error is stated
  std::uint64_t seed = 0;
  double most_error =
      std::numeric_limits<double>::infinity();  ///< a larger relative error has failed
};

struct VerifyRow {
  std::size_t point = 0;
  std::int64_t batch = 0;
  bool bit_equal = false;
  double relative_error = 0;  ///< against the whole model in the plain engine
  std::string failure;  ///< it could not be run, or its error is infinite or too large, and why
};

/// Compares split points with the whole model. Calls on_row after each row, in order. Fails only if
/// the whole model itself cannot be run.
Expected<std::vector<VerifyRow>> verify(const Model& model, const VerifyOptions& options,
                                        const std::function<void(const VerifyRow&)>& on_row);

}  // namespace pareto::model
