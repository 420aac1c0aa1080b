#include <algorithm>
#include <cmath>

#include "client/report/csv_cell.h"
#include "client/report/writers.h"
#include "coordinator/results/record_json.h"
#include "coordinator/results/simulated.h"
#include "core/base/text.h"

namespace pareto::report {
namespace {

std::string text_of(const std::string& value) { return csv_cell(value); }
std::string text_of(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }
std::string text_of(std::int64_t value) { return fmt::format("{}", value); }
std::string text_of(std::uint64_t value) { return fmt::format("{}", value); }
std::string text_of(int value) { return fmt::format("{}", value); }
std::string text_of(bool value) { return value ? "true" : "false"; }

template <typename Part, typename Field>
std::string joined(const std::vector<Part>& parts, Field Part::*field) {
  std::vector<std::string> texts;
  for (const Part& part : parts) texts.push_back(fmt::format("{}", part.*field));
  return join(texts, "+");
}

/// Calls visit(column, value) for every column. Figures are empty where there are none.
template <typename Visit>
void for_each_column(const results::RunRecord& run, const results::TrialRecord& trial,
                     Visit visit) {
  const std::string status = results::status_of(trial);
  const bool measured = status == "ok";
  const auto figure = [&](const char* column, const auto& value) {
    if (measured) {
      visit(column, text_of(value));
    } else {
      visit(column, std::string());
    }
  };
  visit("run", text_of(run.id));
  visit("model", text_of(run.model));
  visit("id", text_of(trial.id));
  visit("name", text_of(trial.name));
  visit("split", trial.split ? text_of(trial.split->name) : "");
  visit("position", trial.split ? text_of(trial.split->position) : "");
  visit("boundary_bytes", trial.split ? text_of(trial.split->boundary_bytes) : "");
  const std::vector<results::CutRecord> cuts =
      trial.split ? trial.split->cuts : std::vector<results::CutRecord>{};
  visit("cut_positions", joined(cuts, &results::CutRecord::position));
  visit("cut_bytes", joined(cuts, &results::CutRecord::boundary_bytes));
  visit("devices", csv_cell(join(trial.plan.device_names(), "+")));
  visit("transport", text_of(trial.transport));
  visit("codec", text_of(trial.codec));
  visit("auto_codec", text_of(trial.auto_codec));
  visit("batch", text_of(trial.batch));
  visit("micro_batch", text_of(trial.plan.micro_batch));
  visit("condition", text_of(trial.condition));
  // Of the network they are known before the trial is measured, and where it failed.
  const auto network = [&](const char* column, double results::NetworkFigures::*field) {
    visit(column, trial.network ? text_of((*trial.network).*field) : "");
  };
  network("network_round_trip_ms", &results::NetworkFigures::round_trip_ms);
  network("network_forward_mbit_per_s", &results::NetworkFigures::forward_mbit_per_s);
  network("network_backward_mbit_per_s", &results::NetworkFigures::backward_mbit_per_s);
  visit("precision", text_of(trial.plan.precision_text()));
  visit("threads", text_of(trial.plan.threads_text()));
  visit("schedule", text_of(trial.plan.schedule_text()));
  figure("rounds", trial.rounds.size());
  figure("latency_p50_ms", trial.latency.p50_ms);
  figure("latency_p90_ms", trial.latency.p90_ms);
  figure("latency_p95_ms", trial.latency.p95_ms);
  figure("latency_p99_ms", trial.latency.p99_ms);
  figure("latency_mean_ms", trial.latency.mean_ms);
  figure("latency_ci95_low_ms", trial.latency.ci95_ms.low);
  figure("latency_ci95_high_ms", trial.latency.ci95_ms.high);
  figure("latency_measured_p50_ms", trial.latency.measured_p50_ms);
  figure("latency_window", trial.latency.window);
  figure("latency_samples", trial.latency.samples);
  figure("samples_per_s", trial.throughput.samples_per_s);
  figure("samples_per_s_ci95_low", trial.throughput.ci95.low);
  figure("samples_per_s_ci95_high", trial.throughput.ci95.high);
  figure("measured_samples_per_s", trial.throughput.measured_per_s);
  figure("throughput_window", trial.throughput.window);
  figure("throughput_samples", trial.throughput.samples);
  figure("compute_ms", trial.time_split.compute_ms);
  figure("transfer_ms", trial.time_split.transfer_ms);
  figure("wait_ms", trial.time_split.wait_ms);
  figure("link_bytes", joined(trial.links, &results::LinkFigures::bytes));
  figure("link_wire_bytes", joined(trial.links, &results::LinkFigures::wire_bytes));
  figure("stage_engines", joined(trial.stages, &results::StageFigures::engine));
  figure("stage_precisions", joined(trial.stages, &results::StageFigures::precision));
  figure("stage_schedules", text_of(joined(trial.stages, &results::StageFigures::schedule)));
  figure("stage_compute_ms", joined(trial.stages, &results::StageFigures::compute_p50_ms));
  figure("stage_peak_memory_bytes",
         joined(trial.stages, &results::StageFigures::peak_memory_bytes));
  figure("output_error_max", trial.output_error ? text_of(trial.output_error->max) : "");
  figure("output_error_mean", trial.output_error ? text_of(trial.output_error->mean) : "");
  figure("top1_agreement", trial.output_error ? text_of(trial.output_error->top1_agreement) : "");
  for (const results::ObjectiveRecord& objective : run.objectives) {
    const auto found =
        std::ranges::find(trial.objectives, objective.name, &results::ObjectiveFigure::name);
    visit("objective_" + objective.name,
          found == trial.objectives.end() ? "" : text_of(found->value));
  }
  const auto prediction = [&](const char* column, auto field) {
    visit(column, trial.prediction ? text_of((*trial.prediction).*field) : "");
  };
  prediction("predicted_latency_ms", &results::Prediction::latency_ms);
  prediction("predicted_samples_per_s", &results::Prediction::samples_per_s);
  prediction("predicted_window", &results::Prediction::window);
  prediction("expected_latency_ms", &results::Prediction::expected_latency_ms);
  prediction("expected_samples_per_s", &results::Prediction::expected_samples_per_s);
  prediction("expected_latency_deviation", &results::Prediction::latency_deviation);
  prediction("expected_throughput_deviation", &results::Prediction::throughput_deviation);
  prediction("predicted_latency_compute_share", &results::Prediction::latency_compute_share);
  prediction("predicted_throughput_compute_share", &results::Prediction::throughput_compute_share);
  figure("on_front", trial.on_front);
  const bool settled = trial.p_front != results::kUnsettled;
  visit("p_front", settled && (measured || trial.prediction) ? text_of(trial.p_front) : "");
  visit("status", status);
  visit("failure", text_of(trial.failure));
  visit("simulated", std::string(to_string(results::simulated_in(run))));
}

class CsvWriter final : public ReportWriter {
 public:
  std::string_view name() const override { return "csv"; }
  std::string_view summary() const override { return "one line a trial, for spreadsheets"; }
  Expected<std::string> write(const results::RunRecord& run,
                              const ReportStyle& /*style*/) const override {
    std::vector<std::string> columns;
    for_each_column(run, results::TrialRecord{},
                    [&](const std::string& column, const auto&) { columns.push_back(column); });
    std::string text = join(columns, ",") + "\r\n";
    for (const results::TrialRecord& trial : run.trials) {
      std::vector<std::string> cells;
      for_each_column(run, trial,
                      [&](const auto&, const std::string& cell) { cells.push_back(cell); });
      text += join(cells, ",") + "\r\n";
    }
    return text;
  }
};

}  // namespace

std::unique_ptr<ReportWriter> make_csv_writer() { return std::make_unique<CsvWriter>(); }

}  // namespace pareto::report
