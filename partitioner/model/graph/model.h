// A model ready to be cut, behind a header without LibTorch: what the coordinator holds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/tensor/value_spec.h"
#include "partitioner/model/graph/graph.h"
#include "partitioner/model/graph/input_shape.h"
#include "partitioner/model/graph/split_points.h"

namespace pareto::model {

struct Flat;

/// Owns the flat graph, its weights and the LibTorch-free Graph made from it by running it at two
/// batch sizes.
///
/// Threads: const members from one thread at a time (LibTorch runs inside some of them).
class Model {
 public:
  /// Examines a flat model: shapes, FLOPs, aliases, split points. inputs: one a model input.
  /// `batches`: those that it will be run at. They are tried, as is the data's, if the usual ones
  /// (1 to 3) are refused. Fails: kInvalidArgument (it does not run on those shapes: with
  /// LibTorch's reason).
  static Expected<Model> examine(Flat flat, std::vector<InputShape> inputs,
                                 const std::vector<std::int64_t>& batches = {});
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  const std::string& name() const;
  const Graph& graph() const;
  const std::vector<SplitPoint>& split_points() const;
  /// Returns the SHA-256 over graph and weights, the identity under which results are stored.
  const Digest& digest() const;
  /// Returns the inputs that it was examined with.
  const std::vector<InputShape>& inputs() const;
  /// Returns the only batch at which it ran when it was examined; no value if it runs at several.
  std::optional<std::int64_t> only_batch() const;
  /// Returns the inputs of the given batch: the data that it was examined with, as example_of()
  /// takes them, or else made-up values. `sizes`: those of graph().sizes; empty: as it was opened.
  Expected<std::vector<Value>> example_inputs(std::int64_t batch, std::uint64_t seed,
                                              const std::vector<std::int64_t>& sizes = {}) const;
  /// Runs the uncut model, interpreted plainly; for a file the module as LibTorch loaded it, so
  /// that a comparison covers the flattening as well.
  Expected<std::vector<Value>> run_whole(const std::vector<Value>& inputs) const;
  /// Returns the weight with this digest (of its dense bytes). Fails: kNotFound.
  Expected<Tensor> weight(const Digest& digest) const;
  /// Returns the digest of each of graph().weights.
  const std::vector<Digest>& weight_digests() const;
  const Flat& flat() const;

 private:
  struct Impl;
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Selects split points of a model by their names, like the function of that name over a list. Says
/// why if the model cannot be cut at all.
Expected<std::vector<std::size_t>> select_split_points(const Model& model, std::string_view text);

}  // namespace pareto::model
