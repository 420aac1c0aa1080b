#include "partitioner/planning/tasks/cost_metric.h"

#include <cmath>

#include "core/base/text.h"

namespace pareto::tasks {

Expected<CostMetric> CostMetric::parse(const std::string& text) {
  PARETO_ASSIGN(auto expression, CostExpression::parse(text, cost_quantity_names()));
  return CostMetric(text, std::move(expression));
}

Expected<std::vector<double>> CostMetric::costs_of(const std::vector<LayerCost>& layers) const {
  const auto& quantities = builtin_cost_quantities();
  std::vector<double> costs;
  bool any = layers.empty();
  for (const LayerCost& layer : layers) {
    const auto cost = expression_.evaluate(
        [&](std::size_t quantity) { return quantities[quantity].value(layer); });
    any = any || cost;
    if (cost && (*cost < 0 || !std::isfinite(*cost))) {
      return fail(ErrorCode::kInvalidArgument,
                  "metric \"{}\": layer {} ({}) would cost {}; costs are 0 or more", text_,
                  layer.name, layer.kind, *cost);
    }
    costs.push_back(cost.value_or(0));
  }
  if (any) return costs;
  return fail(ErrorCode::kInvalidArgument,
              "metric \"{}\": it divides by {}, which is zero in every layer", text_,
              join(expression_.divisors(), " and by "));
}

}  // namespace pareto::tasks
