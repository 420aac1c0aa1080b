// Workload: what is deployed, and what is sent through it. It is the coordinator's model, or an
// invented one in tests.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/plan/operator_ranges.h"
#include "core/plan/shard.h"
#include "core/tensor/tensor.h"
#include "core/tensor/value.h"
#include "partitioner/model/graph/model.h"

namespace pareto::cluster {

/// A model that can be cut, with its weights and made-up requests.
///
/// Threads: any.
class Workload {
 public:
  virtual ~Workload() = default;
  /// Returns those operators as a shard.
  virtual Expected<plan::Shard> shard(const plan::ShardOperators& operators) = 0;
  virtual Expected<Tensor> weight(const Digest& digest) = 0;
  /// Returns made-up inputs for one request of `batch` samples, in the order of the first shard's
  /// inputs.
  virtual Expected<std::vector<Value>> example(std::int64_t batch, std::uint64_t seed) = 0;
  /// Returns what the last shard should give for example(batch, seed), in the order of its outputs;
  /// nothing if that is not known.
  virtual Expected<std::optional<std::vector<Value>>> expected(std::int64_t batch,
                                                               std::uint64_t seed);
};

/// A model's shards, cut when asked for. Owns nothing: the model must outlive it.
///
/// Threads: any; the model is used by one thread at a time.
class ModelWorkload final : public Workload {
 public:
  explicit ModelWorkload(const model::Model& model) : model_(model) {}
  Expected<plan::Shard> shard(const plan::ShardOperators& operators) override;
  Expected<Tensor> weight(const Digest& digest) override;
  Expected<std::vector<Value>> example(std::int64_t batch, std::uint64_t seed) override;
  /// Runs the whole model, in the plain engine; nothing is known of a model that draws random
  /// numbers.
  Expected<std::optional<std::vector<Value>>> expected(std::int64_t batch,
                                                       std::uint64_t seed) override;

  /// Returns the model's arguments put into the order of the first shard's inputs. Fails:
  /// kInvalidArgument (another number).
  Expected<std::vector<Value>> to_first_shard(const std::vector<Value>& arguments);
  /// Returns the last shard's outputs put into the order of the model's results.
  Expected<std::vector<Value>> from_last_shard(const std::vector<Value>& outputs);

 private:
  const model::Model& model_;
  std::mutex mutex_;
};

}  // namespace pareto::cluster
