#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "client/commands/mode_flag.h"
#include "client/commands/progress.h"
#include "core/base/counted.h"
#include "core/base/json_text.h"
#include "core/base/printable.h"
#include "core/base/text.h"
#include "partitioner/model/emit/interpret.h"

namespace pareto::client::commands {
namespace {

using model::Interpretation;
using model::InterpretedOperator;

std::string operator_text(const InterpretedOperator& op) {
  return fmt::format("operator {}, {}{}{}", op.position, op.kind,
                     op.scope.empty() ? "" : " in " + printable(op.scope),
                     fmt::format(", stage {}", op.stage));
}

std::string names_of(const std::vector<model::Cut>& cuts) {
  std::vector<std::string> names;
  for (const model::Cut& cut : cuts) names.push_back(cut.name);
  return names.empty() ? "uncut" : "cut at " + join(names, "+");
}

void print_text(Context& context, const model::Model& model, const std::vector<model::Cut>& cuts,
                std::int64_t batch, const Interpretation& result) {
  context.out << fmt::format("interpret   {} {}, batch {}, {} operator by operator\n", model.name(),
                             names_of(cuts), batch, counted(result.operators.size(), "operator"));
  for (std::size_t stage = 0; stage <= cuts.size(); ++stage) {
    std::size_t operators = 0;
    std::size_t equal = 0;
    Nanoseconds took{};
    for (const InterpretedOperator& op : result.operators) {
      if (op.stage != stage) continue;
      ++operators;
      equal += op.is_equal ? 1 : 0;
      took += op.took;
    }
    context.out << fmt::format(
        "stage       {}: {} of {} equal the whole model's bit for bit, {:.2f} ms\n", stage, equal,
        counted(operators, "operator"), to_milliseconds(took));
  }
  context.out << fmt::format(
      "values      {} of {} compared are equal{}\n", result.values - result.differing,
      result.values,
      result.skipped > 0 ? fmt::format("; {} have no bytes to compare", result.skipped) : "");
  if (const auto& first = result.first) {
    context.out << fmt::format("first       {} ({}): {}\n", printable(first->name),
                               operator_text(result.operators[first->at]), first->what);
  }
  const auto infinite = std::ranges::find_if(
      result.operators, [](const InterpretedOperator& op) { return !op.is_finite; });
  if (infinite != result.operators.end()) {
    context.out << fmt::format("not finite  the first NaN or infinity is of {}\n",
                               operator_text(*infinite));
  }
  context.out << fmt::format("outputs     {}\n",
                             result.outputs_equal
                                 ? "those of the model as it was loaded, bit for bit"
                                 : "other bits than those of the model as it was loaded");
}

void print_json(Context& context, const model::Model& model, const std::vector<model::Cut>& cuts,
                std::int64_t batch, const Interpretation& result) {
  using Document = nlohmann::ordered_json;
  Document operators = Document::array();
  for (const InterpretedOperator& op : result.operators) {
    operators.push_back({{"position", op.position},
                         {"kind", op.kind},
                         {"scope", op.scope},
                         {"stage", op.stage},
                         {"values", op.values},
                         {"equal", op.is_equal},
                         {"finite", op.is_finite},
                         {"ms", to_milliseconds(op.took)}});
  }
  Document splits = Document::array();
  for (const model::Cut& cut : cuts) splits.push_back(cut.name);
  Document first;
  if (result.first) {
    const InterpretedOperator& op = result.operators[result.first->at];
    first = {{"value", result.first->name},
             {"position", op.position},
             {"kind", op.kind},
             {"scope", op.scope},
             {"stage", op.stage},
             {"difference", result.first->what}};
  }
  const Document json{{"mode", "interpret"},
                      {"model", model.name()},
                      {"splits", std::move(splits)},
                      {"batch", batch},
                      {"values", result.values},
                      {"differing", result.differing},
                      {"skipped", result.skipped},
                      {"first_difference", std::move(first)},
                      {"outputs_equal", result.outputs_equal},
                      {"operators", std::move(operators)}};
  context.out << dump(json, 2) << '\n';
}

}  // namespace

Expected<int> interpret_cuts(Context& context, const model::Model& model,
                             const std::vector<model::Cut>& cuts, const plan::Plan& plan,
                             std::uint64_t seed, bool json) {
  model::InterpretOptions options;
  options.cuts = cuts;
  options.batch = plan.batch;
  options.threads = std::max(1, plan.settings.threads);
  options.seed = seed;
  Interpretation result;
  {
    Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
    PARETO_ASSIGN(result,
                  model::interpret(model, options, [&](std::size_t done, std::size_t total) {
                    progress.show(done, total, "interpreting", "interpreting");
                  }));
  }
  json ? print_json(context, model, cuts, plan.batch, result)
       : print_text(context, model, cuts, plan.batch, result);
  return result.differing == 0 && result.outputs_equal ? kExitDone : kExitFailed;
}

}  // namespace pareto::client::commands
