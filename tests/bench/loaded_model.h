// A built-in model and runners over its parts, on one thread.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/runtime/shard_runner.h"
#include "partitioner/model/emit/emit.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/model/zoo/model_builder.h"

namespace pareto::bench {

inline Expected<std::unique_ptr<runtime::ShardRunner>> load_part(
    const model::Model& model, std::int64_t begin, std::int64_t end,
    runtime::Precision precision = runtime::Precision::kFloat32) {
  PARETO_ASSIGN(const plan::Shard shard, model::emit_shard(model, begin, end));
  runtime::RunnerOptions options;
  options.precision = precision;
  return runtime::ShardRunner::load(
      shard, [&](const Digest& digest) { return model.weight(digest); }, options);
}

inline std::int64_t operators_of(const model::Model& model) {
  return static_cast<std::int64_t>(model.graph().operators.size());
}

}  // namespace pareto::bench
