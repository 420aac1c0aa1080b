// Cuts as `splits` shows them: figures of each, as a table or as JSON.
//
//   Cuts + Graph ──show_cuts──▶ ShownCuts ──▶ table, JSON
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "client/report/cell_table.h"
#include "client/report/text_table.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/model/graph/named_cuts.h"
#include "partitioner/planning/frontiers/cut_figures.h"

namespace pareto::client::commands {

/// Predicted times of the two sides on a device that was profiled.
struct ProfiledSides {
  std::string device;
  double ms_before = 0;
  double ms_after = 0;
};

struct ShownCut {
  model::Cut cut;
  std::vector<std::string> names;  ///< all names, the shown one first
  std::string reason;              ///< why it is not allowed; empty: it is
  planning::CutFigures figures;
  std::optional<double> ms_before;  ///< times of the two sides, if they were measured
  std::optional<double> ms_after;
  std::vector<ProfiledSides> profiled{};  ///< one a device, if they are asked for
};

/// Returns cuts with their figures, bytes at that batch. Fails: as planning::figures_of().
Expected<std::vector<ShownCut>> show_cuts(const model::Model& model,
                                          const std::vector<model::Cut>& cuts, std::int64_t batch);
/// Returns every position of the model's order, those without a cut too.
Expected<std::vector<ShownCut>> show_positions(const model::Model& model, std::int64_t batch);

/// Leaves the first `most` of the cuts that the fewest bytes cross, in that order. Of as many bytes
/// those come first whose sides are most alike in FLOPs.
void keep_smallest(std::vector<ShownCut>& cuts, std::size_t most);

/// Measures what each side takes here, in ms, on one thread of the plain engine. Fails: as
/// emit_shard() and ShardRunner do.
Expected<> time_sides(const model::Model& model, std::int64_t batch, std::vector<ShownCut>& cuts);

/// Measures what each operator takes here, in ms, in the same way.
Expected<std::vector<double>> time_operators(const model::Model& model, std::int64_t batch);
/// Sums the times of operators, in ms, on both sides of each cut.
void add_times(const std::vector<double>& operators_ms, std::vector<ShownCut>& cuts);

/// Makes the table. `parameters`: it has the parameters of each side, and not the bytes of weights.
report::CellTable cells_of(const model::Graph& graph, const std::vector<ShownCut>& cuts,
                           bool parameters);
/// Makes that table for a terminal.
report::TextTable table_of(const model::Graph& graph, const std::vector<ShownCut>& cuts,
                           bool parameters);
/// Writes the same figures as CSV, whole numbers, with a line of names above.
std::string to_csv(const model::Graph& graph, const std::vector<ShownCut>& cuts);
nlohmann::ordered_json to_json(const model::Graph& graph, const std::vector<ShownCut>& cuts);

}  // namespace pareto::client::commands
