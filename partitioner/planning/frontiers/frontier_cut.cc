// Cuts that frontiers of files name in a model.
#include "partitioner/planning/frontiers/frontier_file.h"

namespace pareto::planning {
namespace {

/// Checks that operators are there. Fails: kInvalidArgument.
Expected<> check_there(const plan::OperatorRanges& ranges, const model::Graph& graph) {
  const auto count = static_cast<std::int64_t>(graph.operators.size());
  if (ranges.empty() || ranges.back().end <= count) return {};
  return fail(ErrorCode::kInvalidArgument, "operators {} of a model that has {}", to_string(ranges),
              count);
}

}  // namespace

Expected<model::Cut> cut_of(const FrontierFile& file, const model::Graph& graph,
                            const std::vector<model::SplitPoint>& points) {
  PARETO_TRY(check_there(file.operators, graph));
  PARETO_TRY(check_there(file.ranges, graph));
  if (!file.ranges.empty()) return model::checked_cut(graph, points, file.ranges);
  PARETO_ASSIGN(std::vector<std::int64_t> operators,
                model::operators_of_modules(graph, file.modules));
  for (const std::int64_t op : operators_in(file.operators)) operators.push_back(op);
  return model::checked_cut(graph, points, model::closed(graph, operators));
}

}  // namespace pareto::planning
