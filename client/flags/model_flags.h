// The flags that open a model, and what is remembered of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/command.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/model/graph/model.h"

namespace pareto::client {

/// The flags that name a model, its weights and its inputs.
struct ModelFlags {
  std::string model;
  std::string input_shape;
  std::vector<std::string> inputs;          ///< .npy files, one an input
  std::optional<std::int64_t> num_classes;  ///< no value means the model's own
  std::string weights;
  std::uint64_t model_seed = 0;
  std::vector<std::string> operators;  ///< libraries that define operators LibTorch does not have

  void add_to(CLI::App& app, bool required = true);
  /// Takes what was not given from how that model was opened. Libraries of operators are only named
  /// to the user.
  void complete(const plan::ModelSource& source);
  /// Returns them as they are stored: with absolute paths, and after open() with the data's shapes.
  plan::ModelSource source() const;
  /// Opens the model. If a file's inputs or libraries of operators are not said, they are as that
  /// file was last opened, which is remembered by its content. Says on stderr what is remarkable:
  /// what is remembered, one batch only, empty values, and what model_notices.h lists. `batches`:
  /// those that it will be run at. Fails: kInvalidArgument, kNotFound, kCorrupt.
  Expected<model::Model> open(Context& context, const std::vector<std::int64_t>& batches = {});

 private:
  void take_remembered(Context& context, const Digest& file, std::vector<std::int64_t>& batches);
  void leave_out_absent(Context& context, bool are_operators_said);
  void remember(const Context& context, const Digest& file, const model::Model& model) const;

  bool is_recalled_ = false;  ///< inputs are those of a plan, a run or an earlier command
  /// Libraries that a plan was made with. They are code, and loaded only if the user says so.
  std::vector<std::string> operators_of_plan_;
  std::string data_shape_;  ///< shape of the data; empty: there are none
};

/// Returns the absolute path of a file, which need not be there; "" stays "".
std::string absolute_path(const std::string& path);

/// Selects split points as select_split_points() does, and says on stderr which parts of the text
/// are one cut. Sets of operators are no positions, and refused.
Expected<std::vector<std::size_t>> select_splits(Context& context, const model::Model& model,
                                                 const std::string& text);

}  // namespace pareto::client
