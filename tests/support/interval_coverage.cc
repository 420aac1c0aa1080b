#include "tests/support/interval_coverage.h"

#include <cmath>

#include "coordinator/statistics/front.h"

namespace pareto::test {
namespace {

using results::Interval;
using results::TrialRecord;

bool holds(const Interval& interval, double truth) {
  return interval.low <= truth && truth <= interval.high;
}

double width_of(const Interval& interval) { return std::log(interval.high / interval.low) / 2; }

}  // namespace

void count_case(const std::vector<TrialRecord>& recorded, std::size_t plan,
                std::span<const std::size_t> rounds, std::size_t own, std::size_t others,
                Coverage& coverage) {
  std::vector<TrialRecord> trials;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    TrialRecord& trial = trials.emplace_back();
    trial.batch = recorded[i].batch;
    trial.latency.samples = 1;
    for (const std::size_t round : rounds.first(i == plan ? own : others)) {
      trial.rounds.push_back(recorded[i].rounds[round]);
    }
  }
  statistics::show_rounds(trials);
  TrialRecord truth = recorded[plan];
  statistics::settle_alone(truth);
  const Interval& latency = trials[plan].latency.ci95_ms;
  const Interval& throughput = trials[plan].throughput.ci95;
  ++coverage.cases;
  coverage.latency += holds(latency, truth.latency.measured_p50_ms) ? 1 : 0;
  coverage.throughput += holds(throughput, truth.throughput.measured_per_s) ? 1 : 0;
  coverage.latency_widths.push_back(width_of(latency));
  coverage.throughput_widths.push_back(width_of(throughput));
}

}  // namespace pareto::test
