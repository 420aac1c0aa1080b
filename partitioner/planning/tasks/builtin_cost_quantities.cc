#include "partitioner/planning/tasks/cost_metric.h"

namespace pareto::tasks {

const std::vector<CostQuantity>& builtin_cost_quantities() {
  static const std::vector<CostQuantity> kQuantities{
      {"time", "measured time", [](const LayerCost& layer) { return to_nanoseconds(layer.time); }},
      {"flops", "floating point operations", [](const LayerCost& layer) { return layer.flops; }},
      {"bytes", "bytes read and written",
       [](const LayerCost& layer) { return static_cast<double>(layer.bytes); }},
      {"intensity", "operations for each byte",
       [](const LayerCost& layer) {
         return layer.bytes == 0 ? 0 : layer.flops / static_cast<double>(layer.bytes);
       }},
      {"weights", "bytes of weights",
       [](const LayerCost& layer) { return static_cast<double>(layer.weight_bytes); }},
      {"output", "bytes of what it makes",
       [](const LayerCost& layer) { return static_cast<double>(layer.output_bytes); }},
  };
  return kQuantities;
}

std::vector<std::string> cost_quantity_names() {
  std::vector<std::string> names;
  for (const CostQuantity& quantity : builtin_cost_quantities()) names.push_back(quantity.name);
  return names;
}

}  // namespace pareto::tasks
