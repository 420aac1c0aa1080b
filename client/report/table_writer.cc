#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "client/report/group_table.h"
#include "client/report/network_table.h"
#include "client/report/plan_text.h"
#include "client/report/predicted_table.h"
#include "client/report/text_table.h"
#include "client/report/writers.h"
#include "coordinator/results/best_by_network.h"
#include "coordinator/results/disturbances.h"
#include "coordinator/results/max_latency.h"
#include "coordinator/results/record_json.h"
#include "coordinator/results/share_within.h"
#include "coordinator/results/time_spent.h"
#include "core/base/counted.h"
#include "core/base/text.h"

namespace pareto::report {
namespace {

bool is_ok(const results::TrialRecord& trial) { return results::status_of(trial) == "ok"; }

std::string write_failures(const results::RunRecord& run, const ReportStyle& style) {
  std::string text;
  for (const results::TrialRecord& trial : run.trials) {
    if (trial.status != results::TrialStatus::kFailed) continue;
    text += styled(fmt::format("failed: {}: {}", trial.id, trial.failure), RowStyle::kBad, style) +
            "\n";
  }
  std::map<std::string, std::size_t> skipped;
  for (const results::TrialRecord& trial : run.trials) {
    if (trial.status == results::TrialStatus::kSkipped) ++skipped[trial.failure];
  }
  for (const auto& [why, plans] : skipped) {
    text +=
        styled(fmt::format("skipped: {} of {}: {}", plans, counted(run.trials.size(), "plan"), why),
               RowStyle::kBad, style) +
        "\n";
  }
  for (const results::TrialRecord& trial : run.trials) {
    if (trial.status != results::TrialStatus::kRefused) continue;
    text += styled(fmt::format("not measured: {}: {}", trial.id, trial.failure), RowStyle::kWarning,
                   style) +
            "\n";
  }
  const auto planned = std::ranges::count_if(run.trials, [](const results::TrialRecord& trial) {
    return results::status_of(trial) == "planned";
  });
  if (planned > 0)
    text += fmt::format("not measured: {} of {}\n", planned, counted(run.trials.size(), "plan"));
  return text;
}

/// Writes where the time went; nothing of runs of versions that did not keep it.
std::string write_time(const results::RunRecord& run) {
  const results::TimeSpent spent = results::time_spent(run);
  if (spent.total_s <= 0) return {};
  const auto share = [&](double seconds) {
    return fmt::format("{:.1f} %", 100 * seconds / spent.total_s);
  };
  const bool predicted = std::ranges::any_of(
      run.trials, [](const results::TrialRecord& trial) { return trial.prediction.has_value(); });
  std::string text = fmt::format("time{}: {:.0f} s, {} without a request on its way",
                                 predicted ? " after profiling" : "", spent.total_s,
                                 share(results::dead_share(spent) * spent.total_s));
  if (spent.requests > 0) text += "; " + counted(spent.requests, "request");
  text += "\n";
  text += fmt::format("  measuring {}, reference plan {},\n  loading shards {},",
                      share(spent.measuring_s), share(spent.sentinel_s), share(spent.loading_s));
  // Less would read as 0.0 %.
  if (spent.network_s >= 0.0005 * spent.total_s) {
    text += fmt::format(" networks {},", share(spent.network_s));
  }
  text += fmt::format("\n  opening {} {}", counted(spent.openings_ms.size(), "pipeline"),
                      share(spent.opening_s));
  if (!spent.openings_ms.empty()) {
    text +=
        fmt::format(" (p95 {} ms)", format_figure(results::share_within(spent.openings_ms, 0.95)));
  }
  return text + "\n";
}

/// Stages of one device that are not run as was asked for.
struct OtherStages {
  std::size_t stages = 0;  ///< all of the device
  std::size_t others = 0;
  std::string first;  ///< sentence about the first one
};

/// Counts stages by device. `told`: calls it for each; returns what is said of one that is not run
/// as was asked for, or nothing.
template <typename Told>
std::map<std::string, OtherStages> other_stages(const results::RunRecord& run, Told told) {
  std::map<std::string, OtherStages> devices;
  for (const results::TrialRecord& trial : run.trials) {
    for (std::size_t i = 0; i < trial.stages.size(); ++i) {
      OtherStages& found = devices[trial.stages[i].device];
      ++found.stages;
      const std::string text = told(trial, i);
      if (!text.empty() && found.others++ == 0) {
        found.first = fmt::format("of {}: {}", plan_name(trial), text);
      }
    }
  }
  std::erase_if(devices, [](const auto& one) { return one.second.others == 0; });
  return devices;
}

/// Writes a line for each device that did not compute every stage in the precision asked for.
std::string write_precisions(const results::RunRecord& run, const ReportStyle& style) {
  const auto devices = other_stages(run, [](const results::TrialRecord& trial, std::size_t i) {
    const results::StageFigures& stage = trial.stages[i];
    return stage.precision_reason.empty()
               ? std::string()
               : fmt::format("{} computes it in {}, because {}", stage.engine, stage.precision,
                             stage.precision_reason);
  });
  std::string text;
  for (const auto& [device, found] : devices) {
    text += styled(fmt::format("{}: {} of {} stages are not in the precision asked for; that {} "
                               "(--max-error)",
                               device, found.others, found.stages, found.first),
                   RowStyle::kWarning, style) +
            "\n";
  }
  return text;
}

/// Says which plans did not answer the data set; nothing if none was named.
std::string write_accuracy(const results::RunRecord& run) {
  std::size_t judged = 0;
  std::size_t lossless = 0;
  for (const results::TrialRecord& trial : run.trials) {
    judged += trial.accuracy ? 1 : 0;
    lossless += trial.accuracy && !trial.accuracy->was_run ? 1 : 0;
  }
  if (lossless == 0) return {};
  return fmt::format(
      "accuracy: {} of {} lose nothing and were not run; with engine plain they equal the uncut "
      "model bit for bit, other engines differ by rounding (error)\n",
      lossless, counted(judged, "plan"));
}

/// Writes a line for each device that did not run every stage by the schedule asked for.
std::string write_schedules(const results::RunRecord& run, const ReportStyle& style) {
  const auto devices = other_stages(run, [](const results::TrialRecord& trial, std::size_t i) {
    const results::StageFigures& stage = trial.stages[i];
    if (i >= trial.plan.stages.size() || stage.schedule_reason.empty()) return std::string();
    const std::string asked = plan::schedule_title(trial.plan.settings_of(i).schedule);
    if (asked == plan::kAutoSchedule || asked == stage.schedule) return std::string();
    return fmt::format("it runs by {}, because {}",
                       stage.schedule.empty() ? plan::kSequential : stage.schedule,
                       stage.schedule_reason);
  });
  std::string text;
  for (const auto& [device, found] : devices) {
    text += styled(fmt::format("{}: {} of {} stages do not run by the schedule asked for; that {}",
                               device, found.others, found.stages, found.first),
                   RowStyle::kWarning, style) +
            "\n";
  }
  return text;
}

/// Writes a line for each thing that made figures vary.
std::string write_disturbances(const results::RunRecord& run, const ReportStyle& style) {
  std::string text;
  for (const results::Disturbance& one : results::disturbances(run)) {
    text += styled(fmt::format("{}: {}", one.where, one.text), RowStyle::kWarning, style) + "\n";
  }
  return text;
}

class TableWriter final : public ReportWriter {
 public:
  std::string_view name() const override { return "table"; }
  std::string_view summary() const override { return "the front and everything, to read"; }
  Expected<std::string> write(const results::RunRecord& run,
                              const ReportStyle& style) const override {
    std::map<std::pair<std::int64_t, std::string>, Trials> groups;
    for (const results::TrialRecord& trial : run.trials) {
      if (is_ok(trial)) groups[{trial.batch, trial.condition}].push_back(&trial);
    }
    std::string text;
    const std::optional<double> most_ms = results::max_latency_ms(run);
    const bool several = std::ranges::any_of(run.trials, [&](const results::TrialRecord& trial) {
      return trial.condition != run.trials.front().condition;
    });
    // In the order of the table of networks.
    for (const results::NetworkBest& at : results::best_by_network(run)) {
      const auto found = groups.find({at.batch, at.condition});
      if (found == groups.end()) continue;
      const std::string name = group_name(at.batch, at.condition, several);
      text += write_group(name, found->second, run, style);
      if (most_ms) text += write_within(name, found->second, run, *most_ms);
    }
    text += write_network_table(run, style);
    text += write_predicted(run, style);
    text += write_prediction_errors(run, style);
    text += write_failures(run, style);
    for (const results::DeviceRecord& device : run.devices) {
      text += fmt::format("{}: {} of weights sent ({} in the model)\n", device.name,
                          format_bytes(device.weights_sent_bytes),
                          format_bytes(run.model_weight_bytes));
    }
    text += write_accuracy(run);
    text += write_precisions(run, style);
    text += write_schedules(run, style);
    text += write_time(run);
    text += write_disturbances(run, style);
    return text;
  }
};

}  // namespace

std::unique_ptr<ReportWriter> make_table_writer() { return std::make_unique<TableWriter>(); }

}  // namespace pareto::report
