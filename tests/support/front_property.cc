#include "tests/support/front_property.h"

#include <fmt/format.h>

#include <cstdlib>

#include "client/report/plan_text.h"

namespace pareto::test {
namespace {

using results::TrialRecord;

bool is_measured(const TrialRecord& trial) {
  return trial.status == results::TrialStatus::kOk && trial.latency.samples > 0;
}

double printed(double figure) {
  return std::strtod(report::format_figure(figure).c_str(), nullptr);
}

bool beats(const TrialRecord& a, const TrialRecord& b) {
  const double a_ms = printed(a.latency.p50_ms);
  const double b_ms = printed(b.latency.p50_ms);
  const double a_rate = printed(a.throughput.samples_per_s);
  const double b_rate = printed(b.throughput.samples_per_s);
  return a_ms <= b_ms && a_rate >= b_rate && (a_ms < b_ms || a_rate > b_rate);
}

}  // namespace

std::string contradiction_in(const results::RunRecord& run) {
  for (const TrialRecord& trial : run.trials) {
    if (!is_measured(trial)) {
      if (trial.on_front) return trial.id + " was not measured and is on the front";
      continue;
    }
    const TrialRecord* by = nullptr;
    for (const TrialRecord& other : run.trials) {
      const bool compared =
          is_measured(other) && other.batch == trial.batch && other.condition == trial.condition;
      if (compared && beats(other, trial)) by = &other;
    }
    if (by != nullptr && trial.on_front) {
      return fmt::format("{} is on the front, and {} beats it", trial.id, by->id);
    }
    if (by == nullptr && !trial.on_front) {
      return fmt::format("{} is not on the front, and nothing beats it", trial.id);
    }
  }
  return {};
}

}  // namespace pareto::test
