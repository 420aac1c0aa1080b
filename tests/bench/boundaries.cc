#include "tests/bench/boundaries.h"

#include "tests/bench/loaded_model.h"

namespace pareto::bench {

Expected<std::vector<Boundary>> module_boundaries(const std::string& name) {
  PARETO_ASSIGN(const auto model, model::zoo::open_model(name, {}));
  PARETO_ASSIGN(const auto chosen, model::select_split_points(model.split_points(), "modules"));
  const auto weights = [&](const Digest& digest) { return model.weight(digest); };
  runtime::RunnerOptions plain;
  plain.engine = "plain";
  // A model's only argument is what the first shard takes.
  PARETO_ASSIGN(std::vector<Value> values, model.example_inputs(1, 1));
  std::vector<Boundary> boundaries;
  std::int64_t begin = 0;
  for (const std::size_t index : chosen) {
    const model::SplitPoint& point = model.split_points()[index];
    PARETO_ASSIGN(const plan::Shard shard, model::emit_shard(model, begin, point.position));
    PARETO_ASSIGN(const auto runner, runtime::ShardRunner::load(shard, weights, plain));
    PARETO_ASSIGN(values, runner->run(std::move(values)));
    boundaries.push_back({point.name, Value(Tuple{values})});
    begin = point.position;
  }
  return boundaries;
}

}  // namespace pareto::bench
