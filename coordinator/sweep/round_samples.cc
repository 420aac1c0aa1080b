#include "coordinator/sweep/round_samples.h"

#include <algorithm>

#include "coordinator/statistics/statistics.h"
#include "core/base/clock.h"

namespace pareto::sweep {
namespace {

/// Returns the stages that a request passed; empty: its timeline is of another number of stages.
std::span<results::StageSamples> passed_by(const load::RequestSample& sample, std::size_t turn,
                                           std::vector<results::StageSamples>& stages) {
  const std::size_t passed = stages.size() / turn;
  if (sample.timeline.size() != passed) return {};
  return std::span(stages).subspan(sample.request % turn * passed, passed);
}

}  // namespace

std::vector<double> latencies_of(std::span<const load::RequestSample> samples, std::size_t turn) {
  std::vector<double> latencies;
  for (std::size_t i = 0; i + turn <= samples.size(); i += turn) {
    Nanoseconds slowest{};
    for (const load::RequestSample& sample : samples.subspan(i, turn)) {
      slowest = std::max(slowest, sample.latency());
    }
    latencies.push_back(to_milliseconds(slowest));
  }
  return latencies;
}

Expected<results::TrialRound> samples_of(const load::LoadResult& result, std::size_t stages,
                                         std::size_t turn) {
  results::TrialRound round;
  round.latency_ms = latencies_of(result.samples, turn);
  round.stages.resize(stages);
  for (const load::RequestSample& sample : result.samples) {
    const std::span<results::StageSamples> passed = passed_by(sample, turn, round.stages);
    if (passed.empty()) {
      return fail(ErrorCode::kCorrupt, "a result passed {} stages, not {}", sample.timeline.size(),
                  stages / turn);
    }
    round.sink_receive_ms.push_back(to_milliseconds(sample.sink.receive) +
                                    to_milliseconds(sample.sink.decode));
    for (std::size_t i = 0; i < passed.size(); ++i) {
      const wire::StageTimes& times = sample.timeline[i];
      passed[i].compute_ms.push_back(to_milliseconds(times.compute));
      passed[i].queue_ms.push_back(to_milliseconds(times.queue));
      passed[i].receive_ms.push_back(to_milliseconds(times.receive) +
                                     to_milliseconds(times.decode));
      passed[i].encode_ms.push_back(to_milliseconds(times.encode));
    }
  }
  return round;
}

void add_busy_samples(const std::vector<load::RequestSample>& samples, std::size_t turn,
                      results::TrialRound& round) {
  for (const load::RequestSample& sample : samples) {
    const std::span<results::StageSamples> passed = passed_by(sample, turn, round.stages);
    for (std::size_t i = 0; i < passed.size(); ++i) {
      const wire::StageTimes& times = sample.timeline[i];
      const Nanoseconds others = times.receive_cpu + times.send_cpu;
      passed[i].busy_ms.push_back(
          to_milliseconds(std::max(times.compute_cpu, times.compute - others)));
    }
  }
}

double bottleneck_ms(const results::TrialRound& round, std::size_t turn) {
  double slowest = 0;
  for (const results::StageSamples& stage : round.stages) {
    slowest = std::max(
        {slowest, statistics::median(stage.compute_ms), statistics::median(stage.receive_ms)});
  }
  return std::max(slowest / static_cast<double>(turn), statistics::median(round.sink_receive_ms));
}

}  // namespace pareto::sweep
