#include "client/cluster/observation_wire.h"

#include <algorithm>
#include <cmath>

#include "core/base/printable.h"

namespace pareto::client {
namespace {

namespace v1 = control::v1;

constexpr int kMostStages = 1024;
constexpr int kMostWords = 64;
// Over 30 years: sums of a few of these do not overflow.
constexpr std::int64_t kLongest = std::int64_t{1} << 60;

std::optional<double> figure(bool told, double value) {
  constexpr double kMost = 1e12;
  if (!told || !(std::abs(value) <= kMost)) return {};
  return value;
}

Expected<Nanoseconds> duration(std::int64_t count) {
  if (count >= 0 && count <= kLongest) return Nanoseconds(count);
  return fail(ErrorCode::kCorrupt, "told a duration of {} ns", count);
}

Expected<DurationCounts> durations(const v1::Durations& wire) {
  DurationCounts durations;
  if (static_cast<std::size_t>(wire.counts_size()) != durations.counts.size()) {
    return fail(ErrorCode::kCorrupt, "told counts of {} ranges, not {}", wire.counts_size(),
                durations.counts.size());
  }
  std::ranges::copy(wire.counts(), durations.counts.begin());
  PARETO_ASSIGN(durations.sum, duration(wire.sum_ns()));
  return durations;
}

Expected<StageObservation> stage_of(const v1::StageActivity& wire) {
  StageObservation stage;
  const v1::StageStatus& status = wire.status();
  stage.pipeline = status.pipeline();
  stage.stage = status.stage();
  stage.state = printable(status.state());
  stage.failure = printable(status.failure());
  stage.shard = printable(status.shard());
  stage.model = printable(wire.model());
  stage.begin = wire.begin();
  stage.end = wire.end();
  stage.engine = printable(wire.engine());
  stage.answered = wire.answered();
  stage.failed = status.failed_requests();
  stage.in_flight = wire.in_flight();
  stage.bytes_received = status.bytes_received();
  stage.bytes_sent = status.bytes_sent();
  PARETO_ASSIGN(stage.wait, durations(wire.wait()));
  PARETO_ASSIGN(stage.compute, durations(wire.compute()));
  PARETO_ASSIGN(stage.receiving, duration(wire.receiving_ns()));
  PARETO_ASSIGN(stage.sending, duration(wire.sending_ns()));
  PARETO_ASSIGN(stage.round_trip, duration(wire.round_trip_ns()));
  stage.link_bytes_per_second = wire.link_bytes_per_second();
  return stage;
}

template <typename Words>
std::vector<std::string> words_of(const Words& wire) {
  std::vector<std::string> words;
  for (int i = 0; i < std::min(wire.size(), kMostWords); ++i)
    words.push_back(printable(wire.Get(i)));
  return words;
}

/// The processor times of a machine; nothing of one that tells what no machine has.
MachineLoad load_of(const v1::MachineState& wire) {
  constexpr std::uint32_t kMostProcessors = 1 << 16;
  if (wire.processors() == 0 || wire.processors() > kMostProcessors || wire.processors_ns() < 0 ||
      wire.processors_ns() > kLongest) {
    return {};
  }
  return {Nanoseconds(wire.processors_ns()), static_cast<int>(wire.processors()),
          figure(true, wire.load()).value_or(0)};
}

int count_of(std::uint32_t count) {
  return static_cast<int>(std::min(count, std::uint32_t{1} << 20));
}

MachineObservation machine_of(const v1::MachineState& wire) {
  return {.memory_bytes = wire.memory_bytes(),
          .memory_available_bytes = wire.memory_available_bytes(),
          .temperature_celsius = figure(wire.has_temperature_celsius(), wire.temperature_celsius()),
          .frequency_hertz = figure(wire.has_frequency_hertz(), wire.frequency_hertz()),
          .frequency_max_hertz = figure(wire.has_frequency_max_hertz(), wire.frequency_max_hertz()),
          .governors = words_of(wire.governors()),
          .throttled = words_of(wire.throttled()),
          .throttle_events = wire.throttle_events(),
          .netem_problem = printable(wire.netem_problem()),
          .load = load_of(wire),
          .quota_periods = wire.quota_periods(),
          .throttled_periods = wire.quota_periods_throttled()};
}

}  // namespace

Expected<Observation> observation_of(const v1::ObserveReply& reply) {
  if (reply.stages_size() > kMostStages) {
    return fail(ErrorCode::kCorrupt, "told of {} stages, not at most {}", reply.stages_size(),
                kMostStages);
  }
  Observation observation;
  PARETO_ASSIGN(observation.clock, duration(reply.clock_ns()));
  PARETO_ASSIGN(observation.cpu, duration(reply.cpu_ns()));
  observation.resident_bytes = reply.resident_bytes();
  for (const v1::StageActivity& wire : reply.stages()) {
    PARETO_ASSIGN(StageObservation stage, stage_of(wire));
    observation.stages.push_back(std::move(stage));
  }
  observation.machine = machine_of(reply.machine());
  observation.other_coordinators = count_of(reply.other_coordinators());
  observation.other_pipelines = count_of(reply.other_pipelines());
  return observation;
}

}  // namespace pareto::client
