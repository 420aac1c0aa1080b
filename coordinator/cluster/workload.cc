#include "coordinator/cluster/workload.h"

#include <algorithm>

#include "partitioner/model/emit/emit.h"
#include "partitioner/model/graph/split_points.h"

namespace pareto::cluster {
namespace {

/// Returns for each wanted value its place among `present`. Boundaries list each live value once,
/// in an order of their own; a model may return one value twice and ignore an argument.
Expected<std::vector<Value>> reorder(const std::vector<std::int64_t>& wanted,
                                     const std::vector<std::int64_t>& present,
                                     const std::vector<Value>& values, const char* what) {
  if (values.size() != present.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} {}, not {}", values.size(), what, present.size());
  }
  std::vector<Value> result;
  for (const std::int64_t value : wanted) {
    const auto found = std::find(present.begin(), present.end(), value);
    if (found == present.end()) {
      return fail(ErrorCode::kInternal, "value {} does not cross the end of the model", value);
    }
    result.push_back(values[static_cast<std::size_t>(found - present.begin())]);
  }
  return result;
}

}  // namespace

Expected<plan::Shard> ModelWorkload::shard(const plan::ShardOperators& operators) {
  const std::lock_guard lock(mutex_);
  return model::emit_shard(model_, operators);
}

Expected<Tensor> ModelWorkload::weight(const Digest& digest) {
  const std::lock_guard lock(mutex_);
  return model_.weight(digest);
}

Expected<std::vector<Value>> ModelWorkload::example(std::int64_t batch, std::uint64_t seed) {
  std::unique_lock lock(mutex_);
  PARETO_ASSIGN(const std::vector<Value> arguments, model_.example_inputs(batch, seed));
  lock.unlock();
  return to_first_shard(arguments);
}

Expected<std::optional<std::vector<Value>>> Workload::expected(std::int64_t /*batch*/,
                                                               std::uint64_t /*seed*/) {
  return std::nullopt;
}

Expected<std::optional<std::vector<Value>>> ModelWorkload::expected(std::int64_t batch,
                                                                    std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  if (model::draws_random_numbers(model_.graph())) return std::nullopt;
  PARETO_ASSIGN(const std::vector<Value> arguments, model_.example_inputs(batch, seed));
  PARETO_ASSIGN(const std::vector<Value> results, model_.run_whole(arguments));
  const model::Graph& graph = model_.graph();
  const auto end = static_cast<std::int64_t>(graph.operators.size());
  PARETO_ASSIGN(auto outputs,
                reorder(model::live_values(graph, end), graph.outputs, results, "results"));
  return std::optional(std::move(outputs));
}

Expected<std::vector<Value>> ModelWorkload::to_first_shard(const std::vector<Value>& arguments) {
  const model::Graph& graph = model_.graph();
  return reorder(model::live_values(graph, 0), graph.inputs, arguments, "inputs");
}

Expected<std::vector<Value>> ModelWorkload::from_last_shard(const std::vector<Value>& outputs) {
  const model::Graph& graph = model_.graph();
  const auto end = static_cast<std::int64_t>(graph.operators.size());
  return reorder(graph.outputs, model::live_values(graph, end), outputs, "outputs");
}

}  // namespace pareto::cluster
