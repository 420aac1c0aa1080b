#include "client/report/network_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "client/report/plan_text.h"
#include "client/report/text_table.h"
#include "coordinator/results/best_by_network.h"
#include "coordinator/results/varied_settings.h"
#include "core/base/counted.h"
#include "core/base/text.h"

namespace pareto::report {
namespace {

/// Returns "100", or "9.89 / 39.9" where the way back has another rate: forward, then backward.
std::string rate_of(const results::NetworkFigures& network) {
  const auto rate = [](double value) {
    const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return value > 0 ? fmt::format("{:.{}f}", value, decimals) : std::string("-");
  };
  const double forward = network.forward_mbit_per_s;
  const double backward = network.backward_mbit_per_s;
  if (std::min(forward, backward) > 0.95 * std::max(forward, backward)) return rate(forward);
  return rate(forward) + " / " + rate(backward);
}

std::string why_nothing(const results::NetworkBest& at) {
  if (at.skipped > 0)
    return fmt::format("{} of {} skipped", at.skipped, counted(at.trials, "plan"));
  if (at.failed == 0) return "not measured";
  if (at.failed < at.trials)
    return fmt::format("{} of {} failed", at.failed, counted(at.trials, "plan"));
  return at.failed == 1 ? "its plan failed" : fmt::format("all {} plans failed", at.failed);
}

class Names {
 public:
  explicit Names(const results::RunRecord& run) : varied_(results::varied_settings(run)) {
    for (const results::TrialRecord& trial : run.trials) links_.insert(link_of(trial));
  }
  /// Returns the name of a plan. Its link and its settings are part of it where there are several.
  std::string operator()(const results::TrialRecord& trial) const {
    std::string name = plan_name(trial);
    if (links_.size() > 1) name += ", " + link_of(trial);
    if (varied_.any()) name += ", " + varied_.sentence(trial.plan);
    return name;
  }

 private:
  plan::VariedSettings varied_;
  std::set<std::string> links_;
};

TextTable empty_table() {
  // A figure of a split goes with the one that it is to be compared with.
  return TextTable({{"network", Align::kLeft, 0},
                    {"RTT ms", Align::kRight, 2},
                    {"Mbit/s", Align::kRight, 2},
                    {"lowest latency", Align::kLeft, 0},
                    {"p50 ms", Align::kRight, 0},
                    {"unsplit ms", Align::kRight, 0},
                    {"highest throughput", Align::kLeft, 1},
                    {"samples/s", Align::kRight, 1},
                    {"unsplit /s", Align::kRight, 1}});
}

/// Returns whether one device alone is no worse than any split in both figures, and better in one.
bool is_alone_better(const results::NetworkBest& at) {
  if (at.split.fastest == nullptr || at.unsplit.fastest == nullptr) return false;
  const double split_ms = at.split.fastest->latency.p50_ms;
  const double alone_ms = at.unsplit.fastest->latency.p50_ms;
  const double split_rate = at.split.most_productive->throughput.samples_per_s;
  const double alone_rate = at.unsplit.most_productive->throughput.samples_per_s;
  return alone_ms <= split_ms && alone_rate >= split_rate &&
         (alone_ms < split_ms || alone_rate > split_rate);
}

/// Returns the networks of one batch under which splitting gains nothing, in a line.
std::string alone_line(std::span<const results::NetworkBest> networks) {
  std::vector<std::string> alone;
  for (const results::NetworkBest& at : networks) {
    if (is_alone_better(at))
      alone.push_back(at.condition == "none" ? "network none" : at.condition);
  }
  if (alone.empty()) return {};
  if (alone.size() < networks.size()) {
    return fmt::format("One device alone is better than any split under {}.", join(alone));
  }
  return "One device alone is better than any split under every network.";
}

void add_row(TextTable& table, const results::NetworkBest& at, const Names& name) {
  const auto latency = [](const results::TrialRecord* trial) {
    return trial != nullptr ? format_figure(trial->latency.p50_ms) : "-";
  };
  const auto throughput = [](const results::TrialRecord* trial) {
    return trial != nullptr ? format_figure(trial->throughput.samples_per_s) : "-";
  };
  const std::string nothing = at.measured == 0 ? why_nothing(at) : "-";
  table.add({at.condition, at.network ? format_figure(at.network->round_trip_ms) : "-",
             at.network ? rate_of(*at.network) : "-",
             at.split.fastest != nullptr ? name(*at.split.fastest) : nothing,
             latency(at.split.fastest), latency(at.unsplit.fastest),
             at.split.most_productive != nullptr ? name(*at.split.most_productive) : nothing,
             throughput(at.split.most_productive), throughput(at.unsplit.most_productive)},
            at.measured == 0 && at.failed + at.skipped > 0 ? RowStyle::kBad : RowStyle::kPlain);
}

}  // namespace

std::string write_network_table(const results::RunRecord& run, const ReportStyle& style) {
  const std::vector<results::NetworkBest> networks = results::best_by_network(run);
  const bool several = std::ranges::any_of(networks, [&](const results::NetworkBest& at) {
    return at.condition != networks.front().condition;
  });
  if (!several) return {};
  const Names name(run);
  std::string text;
  for (auto at = networks.begin(); at != networks.end();) {
    const std::int64_t batch = at->batch;
    const auto first = at;
    TextTable table = empty_table();
    for (; at != networks.end() && at->batch == batch; ++at) add_row(table, *at, name);
    text += heading(fmt::format("Best split by network, batch {}", batch), style);
    text += table.render(style);
    text += paragraph(alone_line({first, at}), RowStyle::kPlain, style) + "\n";
  }
  return text;
}

}  // namespace pareto::report
