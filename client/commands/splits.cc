#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "client/commands/commands.h"
#include "client/commands/inputs.h"
#include "client/commands/model_flags.h"
#include "client/commands/number_flags.h"
#include "client/commands/runner_flags.h"
#include "client/commands/show.h"
#include "client/commands/splits_flag.h"
#include "client/report/plan_text.h"
#include "client/report/text_table.h"
#include "core/base/clock.h"
#include "core/base/counted.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/runtime/shard_runner.h"
#include "partitioner/model/emit/emit.h"

namespace pareto::client {
namespace {

using Json = nlohmann::ordered_json;
using model::Graph;
using model::Model;
using model::SplitPoint;

constexpr int kTimedRuns = 5;

std::string boundary_text(const Graph& graph, const SplitPoint& point) {
  std::vector<std::string> parts;
  for (const plan::BoundaryValue& value : model::boundary(graph, point.position)) {
    parts.push_back(value.spec.describe());
  }
  return join(parts, ", ");
}

/// Returns "12.3 M", of operations or parameters.
std::string count_text(double count) {
  const char* unit = count >= 1e9 ? "G" : count >= 1e6 ? "M" : count >= 1e3 ? "K" : "";
  const double scale = count >= 1e9 ? 1e9 : count >= 1e6 ? 1e6 : count >= 1e3 ? 1e3 : 1;
  return fmt::format("{:.3g}{}{}", count / scale, *unit != '\0' ? " " : "", unit);
}

/// Returns what the operators before each position take here, in ms, on one thread of the plain
/// engine; at the end the whole model.
Expected<std::map<std::int64_t, double>> times_before(const Model& model, std::int64_t batch) {
  const auto operators = static_cast<std::int64_t>(model.graph().operators.size());
  PARETO_ASSIGN(const plan::Shard shard, model::emit_shard(model, 0, operators));
  runtime::RunnerOptions options;
  options.engine = "plain";
  options.batch = batch;
  PARETO_ASSIGN(const auto runner,
                runtime::ShardRunner::load(
                    shard, [&](const Digest& digest) { return model.weight(digest); }, options));
  PARETO_ASSIGN(std::vector<Value> inputs, model.example_inputs(batch, 1));
  std::vector<std::int64_t> cuts;
  for (const SplitPoint& point : model.split_points()) cuts.push_back(point.position);
  PARETO_ASSIGN(const runtime::ShardProfile profile,
                runner->profile(std::move(inputs), kTimedRuns, cuts));
  std::map<std::int64_t, double> before;
  double sum = 0;
  for (const runtime::SegmentTime& segment : profile.segments) {
    sum += to_milliseconds(segment.median);
    before[segment.end] = sum;
  }
  return before;
}

class SplitsCommand final : public Command {
 public:
  std::string_view name() const override { return "splits"; }
  std::string_view summary() const override {
    return "list a model's split points: what crosses each, and the work on either side";
  }
  std::string_view examples() const override {
    return "  paretoctl splits --model mobilenetv2\n"
           "  paretoctl splits --model swin_t.pt --input-shape 3x224x224 --splits all --json\n"
           "  paretoctl splits --model resnet50 --splits modules --time\n";
  }
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    add_splits(app, splits_, "show");
    app.add_flag("--all", all_, "show also points at which no cut is allowed, with the reason");
    set_value(
        app.add_option("--batch", named_batch_,
                       "batch size that bytes are given for (default: 1, or that of --input)"),
        "N")
        ->check(check_one_value);
    app.add_flag("--time", time_,
                 "measure the time of each side, on one thread of the plain engine here");
    app.add_flag("--json", json_, "print one JSON document on stdout, and nothing else there");
  }

  Expected<int> run(Context& context) override {
    PARETO_ASSIGN(const auto named, parse_named_batches(named_batch_));
    PARETO_ASSIGN(const Model model, model_.open(context, named));
    PARETO_ASSIGN(const auto batches, batches_for(context, model, named));
    batch_ = batches.front();
    PARETO_ASSIGN(const std::vector<std::size_t> chosen, choose(context, model));
    if (time_) {
      PARETO_ASSIGN(before_ms_, times_before(model, batch_));
    }
    return json_ ? print_json(context, model, chosen) : print_table(context, model, chosen);
  }

 private:
  Expected<std::vector<std::size_t>> choose(Context& context, const Model& model) const {
    if (!all_) return select_splits(context, model, splits_);
    std::vector<std::size_t> every(model.split_points().size());
    for (std::size_t i = 0; i < every.size(); ++i) every[i] = i;
    return every;
  }

  Expected<int> print_table(Context& context, const Model& model,
                            const std::vector<std::size_t>& chosen) const {
    const Graph& graph = model.graph();
    std::vector<report::TextColumn> columns{{"split point"},
                                            {"at", report::Align::kRight},
                                            {"bytes", report::Align::kRight},
                                            {"FLOPs before", report::Align::kRight, 1},
                                            {"after", report::Align::kRight, 1},
                                            {"weights before", report::Align::kRight, 2},
                                            {"after", report::Align::kRight, 2}};
    if (time_)
      columns.insert(columns.end(),
                     {{"ms before", report::Align::kRight}, {"after", report::Align::kRight}});
    columns.push_back({"what crosses"});
    report::TextTable table(columns);
    for (const std::size_t index : chosen) {
      const SplitPoint& point = model.split_points()[index];
      PARETO_ASSIGN(const auto bytes, model::boundary_bytes(graph, point.position, batch_));
      std::vector<std::string> cells{point.name,
                                     std::to_string(point.position),
                                     format_bytes(bytes),
                                     count_text(point.flops_before),
                                     count_text(point.flops_after),
                                     format_bytes(point.weight_bytes_before),
                                     format_bytes(point.weight_bytes_after)};
      if (time_) {
        cells.push_back(report::format_figure(ms_before(point)));
        cells.push_back(report::format_figure(ms_after(point)));
      }
      cells.push_back(point.legal ? boundary_text(graph, point) : "not allowed: " + point.reason);
      table.add(std::move(cells),
                point.legal ? report::RowStyle::kPlain : report::RowStyle::kFaint);
    }
    context.out << table.render(style_of(context));
    std::size_t legal = 0;
    for (const SplitPoint& point : model.split_points()) legal += point.legal ? 1 : 0;
    context.out << fmt::format(
        "\n{}: {}, {} to cut at, {} of them allowed; {} of weights; bytes at "
        "batch {}, FLOPs of one sample\n",
        model.name(), counted(graph.operators.size(), "operator"),
        counted(model.split_points().size(), "position"), legal,
        format_bytes(model::weight_bytes(graph)), batch_);
    for (const auto& op : graph.operators) {
      if (op.inner_operators == 0) continue;
      context.out << fmt::format("kept whole: {} in {} with {} inside\n", op.kind,
                                 op.scope.empty() ? "the model" : op.scope,
                                 counted(op.inner_operators, "operator"));
    }
    return kExitDone;
  }

  Expected<int> print_json(Context& context, const Model& model,
                           const std::vector<std::size_t>& chosen) const {
    const Graph& graph = model.graph();
    Json json{{"model", model.name()},
              {"operators", graph.operators.size()},
              {"positions", model.split_points().size()},
              {"weight_bytes", model::weight_bytes(graph)},
              {"batch", batch_},
              {"only_batch", model.only_batch() ? Json(*model.only_batch()) : Json()},
              {"splits", Json::array()},
              {"kept_whole", Json::array()}};
    for (const std::size_t index : chosen) {
      const SplitPoint& point = model.split_points()[index];
      PARETO_ASSIGN(const auto bytes, model::boundary_bytes(graph, point.position, batch_));
      Json boundary = Json::array();
      for (const plan::BoundaryValue& value : model::boundary(graph, point.position)) {
        boundary.push_back({{"name", value.name}, {"value", value.spec.describe()}});
      }
      json["splits"].push_back({{"name", point.name},
                                {"names", point.names},
                                {"position", point.position},
                                {"legal", point.legal},
                                {"reason", point.reason},
                                {"boundary", std::move(boundary)},
                                {"boundary_bytes", bytes},
                                {"flops_before", point.flops_before},
                                {"flops_after", point.flops_after},
                                {"weight_bytes_before", point.weight_bytes_before},
                                {"weight_bytes_after", point.weight_bytes_after}});
      if (time_) {
        json["splits"].back()["ms_before"] = ms_before(point);
        json["splits"].back()["ms_after"] = ms_after(point);
      }
    }
    for (const auto& op : graph.operators) {
      if (op.inner_operators == 0) continue;
      json["kept_whole"].push_back(
          {{"kind", op.kind}, {"scope", op.scope}, {"inner_operators", op.inner_operators}});
    }
    context.out << dump(json, 2) << '\n';
    return kExitDone;
  }

  double ms_before(const SplitPoint& point) const { return before_ms_.at(point.position); }
  double ms_after(const SplitPoint& point) const {
    return before_ms_.rbegin()->second - ms_before(point);
  }

  ModelFlags model_;
  std::string splits_ = "all";
  std::string named_batch_;
  std::int64_t batch_ = 1;
  bool all_ = false;
  bool time_ = false;
  std::map<std::int64_t, double> before_ms_;  ///< times by position, if they are asked for
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_splits_command() { return std::make_unique<SplitsCommand>(); }

}  // namespace pareto::client
