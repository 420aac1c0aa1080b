// The debugger of cuts: runs the shards of a cut model operator by operator, and compares each
// value with the one that the whole model computes there.
//
//   whole model ──each value's digest──▶ shards, value by value ──▶ the first that differs
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/model/graph/named_cuts.h"
#include "runtime/shard_runner.h"

namespace pareto::model {

struct InterpretOptions {
  std::vector<Cut> cuts;  ///< each holds the one before it; empty: one shard has all operators
  std::int64_t batch = 1;
  int threads = 1;
  std::uint64_t seed = 0;  ///< seed of made-up inputs, and of random numbers that the model draws
  /// Source of the shards' weights. Empty means the model's own.
  runtime::WeightSource weights{};
};

/// One operator of a shard that was run.
struct InterpretedOperator {
  std::int64_t position = 0;  ///< position in the model's order
  std::string kind;           ///< "aten::conv2d"
  std::string scope;
  std::size_t stage = 0;            ///< the shard that ran it
  std::vector<std::string> values;  ///< what it computed: "x.5 float32[1x64x56x56]"
  bool is_equal = true;             ///< all of them have the whole model's bits
  bool is_finite = true;            ///< none of them holds a NaN or an infinity
  Nanoseconds took{};               ///< time of this one run
};

/// A value that is not what the whole model computes there.
struct DifferingValue {
  std::string name;
  std::size_t at = 0;  ///< index into Interpretation::operators
  /// The difference: "312 of 25088 elements differ, the most by 1.2e-05 of the largest".
  std::string what;
};

struct Interpretation {
  std::vector<InterpretedOperator> operators;  ///< in the order in which they ran
  std::size_t values = 0;                      ///< number of values that were compared
  std::size_t differing = 0;                   ///< number of those that differ
  std::size_t skipped = 0;              ///< values that have no bytes to compare, such as objects
  std::optional<DifferingValue> first;  ///< the first that differs, in the order of running
  /// The shards' outputs have the bits of the model that LibTorch runs as it was loaded.
  bool outputs_equal = true;
};

/// Interprets the shards between the cuts one after the other, on one thread of this process. The
/// values that cross a cut are handed over as a link would. Calls `progress` with the number of
/// operators that have run, of shards and whole model together, and with their total.
/// Fails: as emit_shard() does; kCorrupt (a shard cannot be loaded); kInvalidArgument (a cut that
/// does not hold the one before it, a model or an operator that does not run, with its name).
Expected<Interpretation> interpret(
    const Model& model, const InterpretOptions& options,
    const std::function<void(std::size_t done, std::size_t total)>& progress = {});

}  // namespace pareto::model
