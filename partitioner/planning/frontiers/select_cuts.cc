#include "partitioner/planning/frontiers/select_cuts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/text.h"
#include "partitioner/planning/frontiers/cut_figures.h"
#include "partitioner/planning/search/graph_ideals.h"

namespace pareto::planning {
namespace {

using model::Cut;

constexpr std::string_view kFrontiers = "frontiers";
constexpr const char* kNothingToTrain =
    "no parameter behind it is trainable: all are frozen, or lie before it";

/// Returns whether a part of a text names one cut.
bool names_one(std::string_view part) { return part.find(':') != std::string_view::npos; }

tl::unexpected<Error> nothing_to_train(const std::string& part) {
  return fail(ErrorCode::kInvalidArgument, "no cut at \"{}\": {}", part, kNothingToTrain);
}

/// Returns the split points, of which those without anything to train behind them are not legal.
std::vector<model::SplitPoint> trainable_points(const model::Model& model,
                                                const CutOptions& options) {
  std::vector<model::SplitPoint> points = model.split_points();
  for (model::SplitPoint& point : points) {
    const plan::OperatorRanges before{{0, point.position}};
    if (!point.legal || has_trainable_suffix(model.graph(), before, options.frozen)) continue;
    point.legal = false;
    point.reason = kNothingToTrain;
  }
  return points;
}

Expected<std::vector<Cut>> positions_of_part(const model::Model& model, const std::string& part,
                                             const CutOptions& options) {
  PARETO_ASSIGN(const auto all, model::select_split_points(model, part));
  if (!options.trainable) return model::cuts_at(model.split_points(), all);
  const std::vector<model::SplitPoint> points = trainable_points(model, options);
  auto chosen = model::select_split_points(points, part);
  if (!chosen && chosen.error().code == ErrorCode::kNotFound) return nothing_to_train(part);
  PARETO_TRY(chosen);
  return model::cuts_at(points, *chosen);
}

Expected<std::vector<Cut>> cuts_of_part(const model::Model& model, const std::string& part,
                                        const CutOptions& options) {
  if (part != kFrontiers && !model::is_name_of_set(part)) {
    return positions_of_part(model, part, options);
  }
  std::vector<Cut> cuts;
  if (part == kFrontiers) {
    auto all = all_frontiers(model.graph(), model.split_points());
    if (!all && std::ranges::none_of(model.split_points(), &model::SplitPoint::legal)) {
      // It says why the model cannot be cut at all.
      PARETO_TRY(model::select_split_points(model, part));
    }
    PARETO_ASSIGN(cuts, std::move(all));
  } else {
    PARETO_ASSIGN(Cut cut, model::find_cut(model.graph(), model.split_points(), part));
    cuts.push_back(std::move(cut));
  }
  if (options.trainable) {
    std::erase_if(cuts, [&](const Cut& cut) {
      return !has_trainable_suffix(model.graph(), cut.before, options.frozen);
    });
  }
  if (!cuts.empty()) return cuts;
  return nothing_to_train(part);
}

bool runs_before(const Cut& a, const Cut& b) {
  const std::int64_t size_a = plan::count_of(a.before);
  const std::int64_t size_b = plan::count_of(b.before);
  return size_a != size_b ? size_a < size_b : a.before < b.before;
}

}  // namespace

Expected<std::vector<Cut>> all_frontiers(const model::Graph& graph,
                                         const std::vector<model::SplitPoint>& points) {
  auto sets = search::find_graph_ideal_sets(graph, kMostFrontiers);
  if (!sets) {
    return fail(sets.error().code,
                "{}: name some of them (after:LEFT+RIGHT), or list positions of the model's order "
                "(--splits all)",
                sets.error().message);
  }
  std::vector<Cut> cuts;
  for (plan::OperatorRanges& set : *sets) {
    if (set.empty() || plan::count_of(set) == static_cast<std::int64_t>(graph.operators.size())) {
      continue;
    }
    // Positions have reasons of their own not to be cut at.
    auto cut = model::checked_cut(graph, points, std::move(set));
    if (cut) cuts.push_back(*std::move(cut));
  }
  if (!cuts.empty()) return cuts;
  return fail(ErrorCode::kNotFound, "`{}` selects nothing: no set of operators can be cut off",
              kFrontiers);
}

Expected<std::vector<Cut>> select_cuts(const model::Model& model, std::string_view text,
                                       const CutOptions& options) {
  const auto parts = split_list(text);
  if (parts.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "no split point given (all, modules, auto, frontiers, after:PATH, op:N, "
                "percent:P)");
  }
  std::vector<Cut> cuts;
  for (const std::string& part : parts) {
    PARETO_ASSIGN(std::vector<Cut> some, cuts_of_part(model, part, options));
    cuts.insert(cuts.end(), std::make_move_iterator(some.begin()),
                std::make_move_iterator(some.end()));
  }
  std::ranges::stable_sort(cuts, runs_before);
  const auto runs_the_same = [](const Cut& a, const Cut& b) { return a.before == b.before; };
  cuts.erase(std::unique(cuts.begin(), cuts.end(), runs_the_same), cuts.end());
  return cuts;
}

bool selects_sets(std::string_view text) {
  return std::ranges::any_of(split_list(text), [](const std::string& part) {
    return part == kFrontiers || model::is_name_of_set(part);
  });
}

std::string positions_among(std::string_view text) {
  std::vector<std::string> parts = split_list(text);
  std::erase_if(parts, [](const std::string& part) { return selects_sets(part); });
  return parts.empty() ? "modules" : join(parts, ",");
}

std::vector<std::string> cuts_named_twice(const model::Model& model, std::string_view text) {
  std::map<plan::OperatorRanges, std::pair<std::string, std::vector<std::string>>> names;
  for (const std::string& part : split_list(text)) {
    if (!names_one(part)) continue;
    const auto cuts = cuts_of_part(model, part, {});
    if (!cuts || cuts->size() != 1) continue;
    auto& [name, parts] = names[cuts->front().before];
    name = cuts->front().name;
    parts.push_back(part);
  }
  std::vector<std::string> sentences;
  for (const auto& [before, named] : names) {
    const auto& [name, parts] = named;
    if (parts.size() < 2) continue;
    sentences.push_back(fmt::format("{} are one cut, {}", join(parts, " and "), name));
  }
  return sentences;
}

}  // namespace pareto::planning
