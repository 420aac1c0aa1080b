// One list of the columns that hold a trial, for writing and reading alike.
#pragma once

#include "coordinator/results/record.h"

namespace pareto::results {

/// Calls visit(column, field) for each plain field; `Trial` is TrialRecord or const TrialRecord.
/// Left to the caller: run, split, position, boundary_bytes, status, details.
template <typename Trial, typename Visit>
void for_each_column(Trial& trial, Visit visit) {
  visit("id", trial.id);
  visit("transport", trial.transport);
  visit("codec", trial.codec);
  visit("batch", trial.batch);
  visit("condition", trial.condition);
  visit("p50_ms", trial.latency.p50_ms);
  visit("p90_ms", trial.latency.p90_ms);
  visit("p99_ms", trial.latency.p99_ms);
  visit("mean_ms", trial.latency.mean_ms);
  visit("p50_low_ms", trial.latency.ci95_ms.low);
  visit("p50_high_ms", trial.latency.ci95_ms.high);
  visit("latency_window", trial.latency.window);
  visit("latency_samples", trial.latency.samples);
  visit("samples_per_s", trial.throughput.samples_per_s);
  visit("samples_per_s_low", trial.throughput.ci95.low);
  visit("samples_per_s_high", trial.throughput.ci95.high);
  visit("throughput_window", trial.throughput.window);
  visit("throughput_samples", trial.throughput.samples);
  visit("compute_ms", trial.time_split.compute_ms);
  visit("transfer_ms", trial.time_split.transfer_ms);
  visit("wait_ms", trial.time_split.wait_ms);
  visit("on_front", trial.on_front);
  visit("p_front", trial.p_front);
  visit("failure", trial.failure);
}

}  // namespace pareto::results
