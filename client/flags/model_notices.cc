#include "client/flags/model_notices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/text.h"

namespace pareto::client {
namespace {

using model::Graph;
using model::Operator;

std::string short_kind(const Operator& op) { return op.kind.substr(op.kind.rfind(':') + 1); }

/// Returns "2 dropout, 1 randn_like in decoder": the operators for which `wanted` holds; empty if
/// there are none.
template <typename Wanted>
std::string counts_of(const Graph& graph, bool with_place, Wanted wanted) {
  std::map<std::pair<std::string, std::string>, int> counts;
  for (const Operator& op : graph.operators) {
    if (wanted(op)) ++counts[{short_kind(op), with_place ? op.scope : ""}];
  }
  std::vector<std::string> parts;
  for (const auto& [what, count] : counts) {
    const auto& [kind, place] = what;
    parts.push_back(fmt::format("{} {}{}{}", count, kind, place.empty() ? "" : " in ", place));
  }
  return join(parts, ", ");
}

void add_training(const Graph& graph, std::vector<std::string>& notices) {
  const std::string trains = counts_of(graph, false, [](const Operator& op) { return op.trains; });
  if (!trains.empty()) {
    notices.push_back(fmt::format(
        "{} was saved in training mode ({}): its results are at random, or depend on what else is "
        "in a batch; call its eval() before it is traced",
        graph.model, trains));
  }
}

void add_random(const Graph& graph, std::vector<std::string>& notices) {
  const std::string drops =
      counts_of(graph, true, [](const Operator& op) { return op.always_drops; });
  if (!drops.empty()) {
    notices.push_back(fmt::format(
        "{} drops values at random in every mode ({}): F.dropout is always on unless it is called "
        "with training=self.training",
        graph.model, drops));
  }
  const std::string draws = counts_of(graph, true, [](const Operator& op) {
    return op.is_random && !op.trains && !op.always_drops;
  });
  if (!draws.empty()) {
    notices.push_back(fmt::format(
        "{} draws random numbers ({}): its outputs differ from run to run and are compared "
        "with nothing, but by `verify`, which lets cut and whole draw the same ones",
        graph.model, draws));
  }
}

void add_written(const Graph& graph, std::vector<std::string>& notices) {
  // What norms write as they train is said above.
  std::vector<bool> of_training(graph.weights.size(), false);
  for (const Operator& op : graph.operators) {
    if (!op.trains) continue;
    for (const std::int64_t weight : op.weights)
      of_training[static_cast<std::size_t>(weight)] = true;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < graph.weights.size(); ++i) {
    if (graph.weights[i].is_written && !of_training[i]) names.push_back(graph.weights[i].name);
  }
  if (names.empty()) return;
  notices.push_back(
      fmt::format("{} writes into {} as it runs. A stage keeps no state: every request begins with "
                  "what the file holds, so nothing passes from one request to the next",
                  graph.model, join(names, ", ")));
}

void add_loops(const Graph& graph, std::vector<std::string>& notices) {
  for (const Operator& op : graph.operators) {
    if (op.steps < 2) continue;
    notices.push_back(fmt::format(
        "{} has a loop of {} steps{}{} that is too long to unroll: it is one operator, and no cut "
        "goes through it",
        graph.model, op.steps, op.scope.empty() ? "" : " in ", op.scope));
  }
}

}  // namespace

std::vector<std::string> model_notices(const Graph& graph) {
  std::vector<std::string> notices;
  add_training(graph, notices);
  add_random(graph, notices);
  add_written(graph, notices);
  add_loops(graph, notices);
  return notices;
}

std::string integers_hint(const std::string& failure,
                          const std::vector<model::InputShape>& shapes) {
  const auto says = [&](const char* words) { return failure.find(words) != std::string::npos; };
  if (!says("out of range") && !says("out of bounds")) return {};
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const model::InputShape& shape = shapes[i];
    // Any byte may be in a picture, and a bool is no index.
    if (!shape.range || shape.dtype == DType::kUInt8 || shape.dtype == DType::kBool) continue;
    ranges.push_back(fmt::format("the integers of input {} run from {} to {}", i, shape.range->low,
                                 shape.range->high));
  }
  return ranges.empty() ? "" : fmt::format(" ({}: does the model take these?)", join(ranges));
}

}  // namespace pareto::client
