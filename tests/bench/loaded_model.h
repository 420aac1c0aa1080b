// Runners over parts of a model, on one thread if the options do not say otherwise.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "partitioner/model/emit/emit.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/model/zoo/model_builder.h"
#include "runtime/shard_runner.h"

namespace pareto::bench {

inline Expected<std::unique_ptr<runtime::ShardRunner>> load_part(
    const model::Model& model, std::int64_t begin, std::int64_t end,
    const runtime::RunnerOptions& options = {}) {
  PARETO_ASSIGN(const plan::Shard shard, model::emit_shard(model, begin, end));
  return runtime::ShardRunner::load(
      shard, [&](const Digest& digest) { return model.weight(digest); }, options);
}

inline std::int64_t operators_of(const model::Model& model) {
  return static_cast<std::int64_t>(model.graph().operators.size());
}

}  // namespace pareto::bench
