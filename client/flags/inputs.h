// A model's inputs as people give them: shapes and files of data, and what follows from them for
// batches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/tensor/value.h"
#include "partitioner/model/graph/model.h"

namespace pareto::client {

struct Context;

/// Reads what a model is to be examined with: `shape` as of --input-shape, and one .npy file an
/// input. Either may be empty. Fails: as parse_input_shapes(), read_npy() and with_data(), naming
/// the flag.
Expected<std::vector<model::InputShape>> read_model_inputs(const std::string& shape,
                                                           const std::vector<std::string>& files);

/// One request for a model.
struct ModelInputs {
  std::vector<Value> values;  ///< values in the order of the model's inputs
  std::int64_t batch = 1;
};
/// Reads a request, one .npy file an input. Fails: as read_npy(); kInvalidArgument naming the file
/// and what the model takes (number, dtypes, shapes): devices would only refuse it in LibTorch's
/// words.
Expected<ModelInputs> read_request(const model::Model& model,
                                   const std::vector<std::string>& files);

/// Returns the only batch that the model runs at, else the batch of the data that it was opened
/// with; no value if it has neither.
std::optional<std::int64_t> own_batch(const model::Model& model);
/// Returns the batches to run at: those that were named, else the model's own, else `usual`. Says
/// on stderr if samples of the data are repeated or left out. Fails: kInvalidArgument (it runs at
/// another batch only).
Expected<std::vector<std::int64_t>> batches_for(Context& context, const model::Model& model,
                                                const std::vector<std::int64_t>& named,
                                                const std::vector<std::int64_t>& usual = {1});
/// Checks that the model gives the same outputs for a batch in the parts that the plan cuts it
/// into. It runs the whole model both ways.
/// Fails: kInvalidArgument, with the input or output whose first dimension is not the batch, with
/// the only batch that the model runs at, or with how far the outputs are off.
Expected<> check_cut(const model::Model& model, const plan::Plan& plan);

/// Returns a sentence on the only batch that the model runs at; empty: it runs at several.
std::string only_batch_notice(const model::Model& model);
/// Returns a sentence on values that are empty because example integers are zeros; empty: there are
/// none.
std::string emptied_notice(const model::Model& model);

}  // namespace pareto::client
