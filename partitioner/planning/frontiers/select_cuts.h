// Chooses cuts of a model by a text: split points of its order, and frontiers, which are cuts
// before any set of operators that holds what it needs.
//
//   "modules,after:left+right" or "frontiers" ──select_cuts──▶ Cuts ──▶ plans, verification
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/model/graph/named_cuts.h"

namespace pareto::planning {

/// The most frontiers that are listed. Models with more have many branches side by side.
inline constexpr std::size_t kMostFrontiers = 20'000;

/// Returns every frontier of a graph, smaller sets first. Operators that may not be parted count as
/// one, and so do those that only follow one (an activation, a flatten): a cut before them would
/// send as much as one behind them. Fails: kExhausted (more than kMostFrontiers).
Expected<std::vector<model::Cut>> all_frontiers(const model::Graph& graph,
                                                const std::vector<model::SplitPoint>& points);

struct CutOptions {
  bool trainable = false;             ///< only cuts that have trainable parameters behind them
  std::vector<std::string> frozen{};  ///< module paths whose parameters do not count as trainable
};

/// Selects cuts by a text, comma separated: `frontiers` are all of them, names of sets are those of
/// model::find_cut(), and all else is as model::select_split_points() has it. Smaller sets come
/// first, each once. Fails: as those do; kInvalidArgument (a cut that was named has nothing to
/// train behind it).
Expected<std::vector<model::Cut>> select_cuts(const model::Model& model, std::string_view text,
                                              const CutOptions& options = {});

/// Returns whether such a text selects cuts at other places than positions of the model's order.
bool selects_sets(std::string_view text);
/// Returns the parts of such a text that select positions; if there are none, "modules".
std::string positions_among(std::string_view text);

/// Returns a sentence for each cut that several parts of such a text name one by one: "percent:30
/// and percent:60 are one cut, after:features.3". Parts that select nothing are passed over.
std::vector<std::string> cuts_named_twice(const model::Model& model, std::string_view text);

}  // namespace pareto::planning
