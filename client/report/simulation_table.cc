#include "client/report/plan_text.h"
#include "client/report/simulation_writer.h"
#include "client/report/text_table.h"

namespace pareto::report {
namespace {

using simulation::DeviceOutcome;
using simulation::LinkOutcome;
using simulation::MediumOutcome;
using simulation::Outcome;
using simulation::PipelineOutcome;
using simulation::StageOutcome;
using simulation::Utilisation;

/// Beyond it something is as good as always at work.
constexpr double kFull = 0.98;
/// An error that deserves a look.
constexpr double kLargeError = 0.1;

std::string tenths_percent(double share) { return fmt::format("{:.1f}%", share * 100); }
std::string signed_percent(double share) { return fmt::format("{:+.1f}%", share * 100); }

std::string bottleneck_text(const std::string& name, double use) {
  return name.empty() ? "-" : fmt::format("{} {}", name, tenths_percent(use));
}

std::string pipelines_text(const Outcome& outcome, const ReportStyle& style) {
  TextTable table({{"pipeline"},
                   {"count", Align::kRight},
                   {"W", Align::kRight, 1},
                   {"requests", Align::kRight, 4},
                   {"samples/s", Align::kRight},
                   {"p50 ms", Align::kRight},
                   {"p90 ms", Align::kRight, 2},
                   {"p99 ms", Align::kRight},
                   {"mean ms", Align::kRight, 3},
                   {"in flight", Align::kRight, 3},
                   {"bottleneck"}});
  for (const PipelineOutcome& one : outcome.pipelines) {
    table.add(
        {one.name, std::to_string(one.count), one.window > 0 ? std::to_string(one.window) : "-",
         std::to_string(one.requests), format_figure(one.samples_per_s),
         format_figure(one.latency.p50_ms), format_figure(one.latency.p90_ms),
         format_figure(one.latency.p99_ms), format_figure(one.latency.mean_ms),
         format_figure(one.in_flight), bottleneck_text(one.bottleneck, one.bottleneck_use)},
        one.bottleneck_use > kFull ? RowStyle::kStrong : RowStyle::kPlain);
  }
  return table.render(style);
}

std::string stages_text(const Outcome& outcome, const ReportStyle& style) {
  TextTable table({{"pipeline"},
                   {"stage"},
                   {"link", Align::kRight},
                   {"computing", Align::kRight},
                   {"blocked", Align::kRight},
                   {"queue", Align::kRight, 1},
                   {"most", Align::kRight, 2}});
  const auto link_text = [](const LinkOutcome& link) {
    return tenths_percent(link.use.mean) + (link.media.empty() ? "" : " " + link.way());
  };
  for (const PipelineOutcome& one : outcome.pipelines) {
    for (std::size_t i = 0; i < one.stages.size(); ++i) {
      const StageOutcome& stage = one.stages[i];
      table.add({i == 0 ? one.name : "", fmt::format("{} on {}", i, stage.device),
                 link_text(one.links[i]), tenths_percent(stage.computing),
                 tenths_percent(stage.blocked), format_figure(stage.queue_mean),
                 std::to_string(stage.queue_most)});
    }
    table.add({"", "result", link_text(one.links.back()), "", "", "", ""});
  }
  return table.render(style);
}

void add_use(TextTable& table, const std::string& name, int count, const std::string& cores,
             const Utilisation& use) {
  table.add({name, std::to_string(count), cores, tenths_percent(use.mean), tenths_percent(use.most),
             count > 1 ? fmt::format("number {}", use.busiest) : ""},
            use.most > kFull ? RowStyle::kStrong : RowStyle::kPlain);
}

std::string resources_text(const Outcome& outcome, const ReportStyle& style) {
  TextTable table({{"device or medium"},
                   {"count", Align::kRight},
                   {"cores", Align::kRight, 1},
                   {"busy", Align::kRight},
                   {"busiest", Align::kRight},
                   {"which", Align::kLeft, 2}});
  for (const DeviceOutcome& one : outcome.devices) {
    add_use(table, one.name, one.count, std::to_string(one.cores), one.use);
  }
  for (const MediumOutcome& one : outcome.media) add_use(table, one.name, one.count, "", one.use);
  return table.render(style);
}

}  // namespace

std::string write_simulation_table(const std::string& name, const Outcome& outcome,
                                   const ReportStyle& style) {
  std::string text = fmt::format(
      "{}: {} requests in {} s, the last {} s of them measured{}\n\n", name, outcome.requests,
      format_figure(to_seconds(outcome.simulated)), format_figure(to_seconds(outcome.measured)),
      outcome.stopped ? "; STOPPED before its end" : "");
  text += pipelines_text(outcome, style) + "\n";
  text += stages_text(outcome, style) + "\n";
  return text + resources_text(outcome, style);
}

std::string write_simulated_run_table(const results::RunRecord& run,
                                      const std::vector<replay::SimulatedTrial>& trials,
                                      const ReportStyle& style) {
  TextTable table({{"plan"},
                   {"setting", Align::kLeft, 4},
                   {"W", Align::kRight},
                   {"samples/s", Align::kRight},
                   {"simulated", Align::kRight},
                   {"error", Align::kRight},
                   {"p50 ms", Align::kRight, 2},
                   {"simulated", Align::kRight, 2},
                   {"p95 ms", Align::kRight, 1},
                   {"simulated", Align::kRight, 1},
                   {"error", Align::kRight, 1},
                   {"bottleneck", Align::kLeft, 3}});
  std::string skipped;
  std::size_t simulated = 0;
  for (const replay::SimulatedTrial& one : trials) {
    if (!one.skipped.empty()) {
      skipped += "not simulated: " + one.skipped + "\n";
      continue;
    }
    ++simulated;
    table.add(
        {plan_name(*one.trial), setting_of(*one.trial), std::to_string(one.window),
         format_figure(one.samples_per_s.measured), format_figure(one.samples_per_s.simulated),
         signed_percent(one.samples_per_s.error()), format_figure(one.p50_ms.measured),
         format_figure(one.p50_ms.simulated), format_figure(one.p95_ms.measured),
         format_figure(one.p95_ms.simulated), signed_percent(one.p95_ms.error()),
         bottleneck_text(one.bottleneck, one.bottleneck_use)},
        std::abs(one.samples_per_s.error()) > kLargeError ? RowStyle::kBad : RowStyle::kPlain);
  }
  std::string text = fmt::format("run {} of {}, {}\n\n", run.id, run.model, run.started);
  if (simulated > 0) text += table.render(style) + "\n";
  text += skipped;
  if (simulated == 0) return text;
  const replay::ErrorSummary throughput =
      summary_of(trials, &replay::SimulatedTrial::samples_per_s);
  const replay::ErrorSummary p95 = summary_of(trials, &replay::SimulatedTrial::p95_ms);
  return text + fmt::format(
                    "{} trials, each from its own requests. Throughput at window W is "
                    "predicted: off by {} (median), at most {}. Latency at window 1 is what it was "
                    "calibrated "
                    "with: p95 off by {}, at most {}.\n",
                    simulated, tenths_percent(throughput.median), tenths_percent(throughput.most),
                    tenths_percent(p95.median), tenths_percent(p95.most));
}

}  // namespace pareto::report
