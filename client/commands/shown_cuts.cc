#include "client/commands/shown_cuts.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>
#include <utility>

#include "client/report/csv_cell.h"
#include "client/report/plan_text.h"
#include "client/report/short_count.h"
#include "core/base/clock.h"
#include "core/base/text.h"
#include "partitioner/model/emit/emit.h"
#include "partitioner/model/graph/cuts.h"
#include "runtime/shard_runner.h"

namespace pareto::client::commands {
namespace {

using Json = nlohmann::ordered_json;
using model::Graph;
using model::Model;
using model::SplitPoint;

constexpr int kTimedRuns = 5;

std::string boundary_text(const Graph& graph, const model::Cut& cut) {
  std::vector<std::string> parts;
  for (const std::int64_t value : model::live_values(graph, cut.before)) {
    parts.push_back(model::describe(graph, graph.values[static_cast<std::size_t>(value)]));
  }
  return join(parts, ", ");
}

Expected<ShownCut> shown(const Graph& graph, model::Cut cut, std::int64_t batch) {
  ShownCut one;
  PARETO_ASSIGN(one.figures, planning::figures_of(graph, cut.before, batch));
  one.names = {cut.name};
  one.cut = std::move(cut);
  return one;
}

/// Returns the times of the plain engine at those cuts, and of each operator.
Expected<runtime::ShardProfile> profile_of(const Model& model, std::int64_t batch,
                                           const std::vector<std::int64_t>& cuts) {
  const auto operators = static_cast<std::int64_t>(model.graph().operators.size());
  PARETO_ASSIGN(const plan::Shard shard, model::emit_shard(model, 0, operators));
  runtime::RunnerOptions options;
  options.engine = "plain";
  options.batch = batch;
  PARETO_ASSIGN(const auto runner,
                runtime::ShardRunner::load(
                    shard, [&](const Digest& digest) { return model.weight(digest); }, options));
  PARETO_ASSIGN(std::vector<Value> inputs, model.example_inputs(batch, 1));
  return runner->profile(std::move(inputs), kTimedRuns, cuts);
}

/// Adds up the segments before each position.
void time_positions(const runtime::ShardProfile& profile, std::vector<ShownCut>& cuts) {
  std::map<std::int64_t, double> before;
  double sum = 0;
  for (const runtime::SegmentTime& segment : profile.segments) {
    sum += to_milliseconds(segment.median);
    before[segment.end] = sum;
  }
  for (ShownCut& one : cuts) {
    one.ms_before = before.at(one.cut.before.front().end);
    one.ms_after = sum - *one.ms_before;
  }
}

std::vector<double> operator_times(const runtime::ShardProfile& profile, std::size_t operators) {
  std::vector<double> times(operators, 0);
  for (const runtime::OperatorTime& op : profile.operators) {
    times[static_cast<std::size_t>(op.position)] = to_milliseconds(op.median);
  }
  return times;
}

Json side_json(const planning::SideFigures& side) {
  return {{"flops", side.flops},
          {"weight_bytes", side.weight_bytes},
          {"parameters", side.parameters},
          {"trainable_parameters", side.trainable}};
}

}  // namespace

Expected<std::vector<ShownCut>> show_cuts(const Model& model, const std::vector<model::Cut>& cuts,
                                          std::int64_t batch) {
  std::vector<ShownCut> all;
  for (const model::Cut& cut : cuts) {
    PARETO_ASSIGN(ShownCut one, shown(model.graph(), cut, batch));
    if (model::is_position(cut.before)) {
      one.names = model.split_points()[static_cast<std::size_t>(cut.before.front().end - 1)].names;
    }
    all.push_back(std::move(one));
  }
  return all;
}

Expected<std::vector<ShownCut>> show_positions(const Model& model, std::int64_t batch) {
  std::vector<ShownCut> all;
  for (const SplitPoint& point : model.split_points()) {
    PARETO_ASSIGN(ShownCut one, shown(model.graph(), model::cut_at(point), batch));
    one.names = point.names;
    one.reason = point.reason;
    all.push_back(std::move(one));
  }
  return all;
}

void keep_smallest(std::vector<ShownCut>& cuts, std::size_t most) {
  const auto rank = [](const ShownCut& one) {
    return std::tuple(one.figures.bytes,
                      std::abs(one.figures.before.flops - one.figures.after.flops));
  };
  std::ranges::stable_sort(cuts, {}, rank);
  if (cuts.size() > most) cuts.resize(most);
}

Expected<> time_sides(const Model& model, std::int64_t batch, std::vector<ShownCut>& cuts) {
  const bool in_order = std::ranges::all_of(
      cuts, [](const ShownCut& one) { return model::is_position(one.cut.before); });
  std::vector<std::int64_t> positions;
  if (in_order) {
    for (const SplitPoint& point : model.split_points()) positions.push_back(point.position);
  }
  PARETO_ASSIGN(const runtime::ShardProfile profile, profile_of(model, batch, positions));
  if (in_order) {
    time_positions(profile, cuts);
  } else {
    add_times(operator_times(profile, model.graph().operators.size()), cuts);
  }
  return {};
}

Expected<std::vector<double>> time_operators(const Model& model, std::int64_t batch) {
  PARETO_ASSIGN(const runtime::ShardProfile profile, profile_of(model, batch, {}));
  return operator_times(profile, model.graph().operators.size());
}

void add_times(const std::vector<double>& operators_ms, std::vector<ShownCut>& cuts) {
  const double sum = std::accumulate(operators_ms.begin(), operators_ms.end(), 0.0);
  for (ShownCut& one : cuts) {
    double before = 0;
    for (const plan::OperatorRange& range : one.cut.before) {
      for (auto op = range.begin; op < range.end; ++op) {
        before += operators_ms[static_cast<std::size_t>(op)];
      }
    }
    one.ms_before = before;
    one.ms_after = sum - before;
  }
}

report::TextTable table_of(const Graph& graph, const std::vector<ShownCut>& cuts, bool parameters) {
  const report::CellTable cells = cells_of(graph, cuts, parameters);
  report::TextTable table(cells.columns);
  for (const report::CellRow& row : cells.rows) table.add(row.cells, row.style);
  return table;
}

report::CellTable cells_of(const Graph& graph, const std::vector<ShownCut>& cuts, bool parameters) {
  const bool timed = !cuts.empty() && cuts.front().ms_before;
  std::vector<report::TextColumn> columns{
      {parameters ? "frontier" : "split point"},
      {parameters ? "operators" : "at", report::Align::kRight},
      {"bytes", report::Align::kRight},
      {"FLOPs before", report::Align::kRight, 1},
      {"after", report::Align::kRight, 1},
      {parameters ? "parameters before" : "weights before", report::Align::kRight, 2},
      {"after", report::Align::kRight, 2}};
  if (parameters) columns.push_back({"trainable after", report::Align::kRight});
  if (timed) {
    columns.push_back({"ms before", report::Align::kRight});
    columns.push_back({"after", report::Align::kRight});
  }
  if (!cuts.empty()) {
    for (const ProfiledSides& sides : cuts.front().profiled) {
      columns.push_back({sides.device + " ms before", report::Align::kRight});
      columns.push_back({"after", report::Align::kRight});
    }
  }
  columns.push_back({"what crosses"});
  report::CellTable table{.columns = std::move(columns)};
  for (const ShownCut& one : cuts) {
    const planning::SideFigures& before = one.figures.before;
    const planning::SideFigures& after = one.figures.after;
    std::vector<std::string> cells{one.cut.name, std::to_string(plan::count_of(one.cut.before)),
                                   format_bytes(one.figures.bytes),
                                   report::short_count(before.flops),
                                   report::short_count(after.flops)};
    if (parameters) {
      for (const std::int64_t count : {before.parameters, after.parameters, after.trainable}) {
        cells.push_back(report::short_count(static_cast<double>(count)));
      }
    } else {
      cells.push_back(format_bytes(before.weight_bytes));
      cells.push_back(format_bytes(after.weight_bytes));
    }
    if (timed) {
      cells.push_back(report::format_figure(*one.ms_before));
      cells.push_back(report::format_figure(*one.ms_after));
    }
    for (const ProfiledSides& sides : one.profiled) {
      cells.push_back(report::format_figure(sides.ms_before));
      cells.push_back(report::format_figure(sides.ms_after));
    }
    cells.push_back(one.reason.empty() ? boundary_text(graph, one.cut)
                                       : "not allowed: " + one.reason);
    table.rows.push_back(
        {.cells = std::move(cells),
         .style = one.reason.empty() ? report::RowStyle::kPlain : report::RowStyle::kFaint});
  }
  return table;
}

Json to_json(const Graph& graph, const std::vector<ShownCut>& cuts) {
  Json list = Json::array();
  for (const ShownCut& one : cuts) {
    Json boundary = Json::array();
    for (const plan::BoundaryValue& value : model::boundary(graph, one.cut.before)) {
      boundary.push_back({{"name", value.name}, {"value", value.spec.describe()}});
    }
    Json operators = Json::array();
    for (const plan::OperatorRange& range : one.cut.before) {
      operators.push_back({range.begin, range.end});
    }
    list.push_back({{"name", one.cut.name},
                    {"names", one.names},
                    {"position", plan::count_of(one.cut.before)},
                    {"operators", std::move(operators)},
                    {"legal", one.reason.empty()},
                    {"reason", one.reason},
                    {"boundary", std::move(boundary)},
                    {"boundary_bytes", one.figures.bytes},
                    {"flops_before", one.figures.before.flops},
                    {"flops_after", one.figures.after.flops},
                    {"weight_bytes_before", one.figures.before.weight_bytes},
                    {"weight_bytes_after", one.figures.after.weight_bytes},
                    {"before", side_json(one.figures.before)},
                    {"after", side_json(one.figures.after)}});
    if (one.ms_before) {
      list.back()["ms_before"] = *one.ms_before;
      list.back()["ms_after"] = *one.ms_after;
    }
    for (const ProfiledSides& sides : one.profiled) {
      list.back()["profiled"].push_back(
          {{"device", sides.device}, {"ms_before", sides.ms_before}, {"ms_after", sides.ms_after}});
    }
  }
  return list;
}

std::string to_csv(const Graph& graph, const std::vector<ShownCut>& cuts) {
  std::string text =
      "name,operators_before,boundary_bytes,flops_before,flops_after,parameters_before,"
      "parameters_after,trainable_after,weight_bytes_before,weight_bytes_after";
  const bool timed = !cuts.empty() && cuts.front().ms_before;
  if (timed) text += ",ms_before,ms_after";
  if (!cuts.empty()) {
    for (const ProfiledSides& sides : cuts.front().profiled) {
      text += "," + report::csv_cell(sides.device + " ms_before") + "," +
              report::csv_cell(sides.device + " ms_after");
    }
  }
  text += ",crosses\n";
  for (const ShownCut& one : cuts) {
    const planning::SideFigures& before = one.figures.before;
    const planning::SideFigures& after = one.figures.after;
    text += fmt::format("{},{},{},{:.0f},{:.0f},{},{},{},{},{}", report::csv_cell(one.cut.name),
                        plan::count_of(one.cut.before), one.figures.bytes, before.flops,
                        after.flops, before.parameters, after.parameters, after.trainable,
                        before.weight_bytes, after.weight_bytes);
    if (timed) text += fmt::format(",{:g},{:g}", *one.ms_before, *one.ms_after);
    for (const ProfiledSides& sides : one.profiled) {
      text += fmt::format(",{:g},{:g}", sides.ms_before, sides.ms_after);
    }
    text += "," + report::csv_cell(boundary_text(graph, one.cut)) + "\n";
  }
  return text;
}

}  // namespace pareto::client::commands
