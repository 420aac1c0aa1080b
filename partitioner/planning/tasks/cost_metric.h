// The cost of a layer of a model, for cutting the model into stages of equal cost. A plug: one line
// in builtin_cost_quantities.cc for a quantity that a layer has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "partitioner/planning/tasks/cost_expression.h"

namespace pareto::tasks {

/// One operator of a model, at the batch of its tasks.
struct LayerCost {
  std::string name{};         ///< module path, or the operator's kind
  std::string kind{};         ///< "aten::conv2d"
  std::int64_t position = 0;  ///< in the model's order
  Nanoseconds time{};         ///< measured alone, in the plain engine on one thread
  double flops = 0;           ///< multiply and add count as two
  std::uint64_t bytes = 0;    ///< read and written: inputs, weights, outputs
  std::uint64_t weight_bytes = 0;
  std::uint64_t output_bytes = 0;
};

/// A quantity of a layer that a metric may name.
struct CostQuantity {
  std::string name;   ///< "flops"
  std::string about;  ///< half a sentence for --help
  double (*value)(const LayerCost& layer);
};

/// Returns every quantity of this build, "time" first.
const std::vector<CostQuantity>& builtin_cost_quantities();
std::vector<std::string> cost_quantity_names();

/// A metric: one quantity, or an expression over several.
class CostMetric {
 public:
  /// Parses the name of a quantity, or an expression over several. Fails: as
  /// CostExpression::parse().
  static Expected<CostMetric> parse(const std::string& text);

  /// Returns the cost of each layer; they can be added. A layer that has nothing of what the metric
  /// divides by costs nothing: it never costs infinitely much.
  /// Fails: kInvalidArgument naming what is zero in all layers, or the layer with a negative cost.
  Expected<std::vector<double>> costs_of(const std::vector<LayerCost>& layers) const;
  const std::string& text() const { return text_; }

 private:
  CostMetric(std::string text, CostExpression expression)
      : text_(std::move(text)), expression_(std::move(expression)) {}

  std::string text_;
  CostExpression expression_;
};

}  // namespace pareto::tasks
