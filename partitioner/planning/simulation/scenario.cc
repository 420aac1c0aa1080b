#include "partitioner/planning/simulation/scenario.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pareto::simulation {
namespace {

constexpr Nanoseconds kLongestTime = std::chrono::hours(1);
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;
constexpr std::size_t kMostStagesEach = 64;
constexpr int kMostWindow = 1'000'000;
constexpr double kMostCv = 10;
constexpr double kFewestPerSecond = 1e-6;
constexpr double kMostPerSecond = 1e9;
constexpr int kMostPlaces = 1'000'000;

Expected<> check_duration(const Duration& duration, const PipelineClass& pipeline,
                          const char* what) {
  const int columns = pipeline.recording ? static_cast<int>(pipeline.recording->columns) : 0;
  if (duration.column >= columns) {
    return fail(ErrorCode::kInvalidArgument, "{}: column {} of a recording of {}", what,
                duration.column, columns);
  }
  if (duration.mean.count() < 0 || duration.mean > kLongestTime) {
    return fail(ErrorCode::kInvalidArgument, "{}: a time has to be 0 to 1 h", what);
  }
  if (!(duration.cv >= 0) || duration.cv > kMostCv) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: a coefficient of variation of {} is not 0 to 1000 %", what, duration.cv);
  }
  return {};
}

/// Conditions come from files that were checked when they were read; this is about what a
/// simulation of messages cannot say.
Expected<> check_condition(const plan::LinkDirection& condition) {
  const auto refuse = [](const char* key, const char* remedy) {
    return fail(ErrorCode::kInvalidArgument, "{} is not simulated: {}", key, remedy);
  };
  if (condition.burst_loss) return refuse("burst_loss", "use loss, the mean share of packets");
  if (condition.reorder > 0) return refuse("reorder", "leave it out");
  if (condition.duplicate > 0) return refuse("duplicate", "leave it out");
  if (condition.jitter.correlation > 0) return refuse("jitter_correlation", "leave it out");
  if (condition.loss > 0.5) {
    return fail(ErrorCode::kInvalidArgument,
                "loss: more than half of all packets is not simulated");
  }
  return {};
}

Expected<> check_crossing(const Crossing& crossing, const Scenario& scenario,
                          const PipelineClass& pipeline) {
  PARETO_TRY(check_duration(crossing.occupancy, pipeline, "occupancy"));
  PARETO_TRY(check_duration(crossing.delay, pipeline, "delay"));
  if (crossing.early.count() < 0 || crossing.early > kLongestTime) {
    return fail(ErrorCode::kInvalidArgument, "early: a time has to be 0 to 1 h");
  }
  if (crossing.bytes > kMostBytes) {
    return fail(ErrorCode::kInvalidArgument, "messages of {} bytes: more than 1 TiB",
                crossing.bytes);
  }
  if (crossing.media.size() > 2) {
    return fail(ErrorCode::kInvalidArgument, "{} media: a message passes two at most",
                crossing.media.size());
  }
  for (const MediumPass& pass : crossing.media) {
    if (pass.medium < 0 || pass.medium >= static_cast<int>(scenario.media.size())) {
      return fail(ErrorCode::kInvalidArgument, "medium {} of {}", pass.medium,
                  scenario.media.size());
    }
    const std::string& name = scenario.media[static_cast<std::size_t>(pass.medium)].name;
    if (!(pass.share > 0 && pass.share <= 1)) {
      return fail(ErrorCode::kInvalidArgument,
                  "medium {}: a share has to be above 0, and up to 100 %", name);
    }
  }
  if (crossing.media.size() == 2 && crossing.media[0].medium == crossing.media[1].medium) {
    return fail(ErrorCode::kInvalidArgument, "media: \"{}\" twice",
                scenario.media[static_cast<std::size_t>(crossing.media[0].medium)].name);
  }
  if (crossing.places < 1 || crossing.places > kMostPlaces) {
    return fail(ErrorCode::kInvalidArgument, "places for {} messages, not 1 to {}", crossing.places,
                kMostPlaces);
  }
  return check_condition(crossing.condition);
}

Expected<> check_stage(const Stage& stage, const Scenario& scenario,
                       const PipelineClass& pipeline) {
  if (stage.device < 0 || stage.device >= static_cast<int>(scenario.devices.size())) {
    return fail(ErrorCode::kInvalidArgument, "device {} of {}", stage.device,
                scenario.devices.size());
  }
  if (stage.queue < 1 || stage.queue > 1024) {
    return fail(ErrorCode::kInvalidArgument, "queue: {} is not 1 to 1024", stage.queue);
  }
  if (stage.compute.is_zero()) {
    return fail(ErrorCode::kInvalidArgument, "compute is needed: how long a message is computed");
  }
  PARETO_TRY(check_duration(stage.receive, pipeline, "receive"));
  PARETO_TRY(check_duration(stage.compute, pipeline, "compute"));
  if (stage.busy) {
    PARETO_TRY(check_duration(*stage.busy, pipeline, "busy"));
    if (stage.busy->is_zero()) {
      return fail(ErrorCode::kInvalidArgument, "busy: a message takes some time to be computed");
    }
  }
  PARETO_TRY(check_duration(stage.send, pipeline, "send"));
  return with_context(check_crossing(stage.link, scenario, pipeline), "link");
}

Expected<> check_arrivals(const PipelineClass& pipeline) {
  const Arrivals& arrivals = pipeline.arrivals;
  switch (arrivals.kind) {
    case ArrivalKind::kClosed:
      if (pipeline.window >= 1) return {};
      return fail(ErrorCode::kInvalidArgument,
                  "a window of at least 1 is needed where no arrivals are named");
    case ArrivalKind::kPoisson:
      if (arrivals.rate_per_s >= kFewestPerSecond && arrivals.rate_per_s <= kMostPerSecond) {
        return {};
      }
      return fail(ErrorCode::kInvalidArgument, "{} requests/s are not 1e-6 to 1e9",
                  arrivals.rate_per_s);
    case ArrivalKind::kPeriodic:
      if (arrivals.period.count() >= 1 && arrivals.period <= kLongest) return {};
      return fail(ErrorCode::kInvalidArgument, "a period has to be at least 1 ns");
    case ArrivalKind::kTrace:
      break;
  }
  Nanoseconds sum{};
  for (const Nanoseconds gap : arrivals.gaps) {
    if (gap.count() < 0 || gap > kLongest) {
      return fail(ErrorCode::kInvalidArgument, "a gap between requests is out of range");
    }
    sum += gap;
  }
  if (sum.count() > 0) return {};
  return fail(ErrorCode::kInvalidArgument, "a trace of arrivals has to take time");
}

Expected<> check_recording(const PipelineClass& pipeline) {
  if (pipeline.recording == nullptr) return {};
  const Recording& recording = *pipeline.recording;
  if (recording.rows() == 0 || recording.rows() > UINT32_MAX ||
      recording.nanoseconds.size() != recording.rows() * recording.columns ||
      !(recording.block >= 1)) {
    return fail(ErrorCode::kInvalidArgument, "a recording has no rows");
  }
  const bool in_range = std::ranges::all_of(recording.nanoseconds, [](std::int64_t time) {
    return time >= 0 && time <= kLongestTime.count();
  });
  if (in_range) return {};
  return fail(ErrorCode::kInvalidArgument, "a recorded time is negative or longer than 1 h");
}

Expected<> check_pipeline(const PipelineClass& pipeline, const Scenario& scenario) {
  if (pipeline.stages.empty() || pipeline.stages.size() > kMostStagesEach) {
    return fail(ErrorCode::kInvalidArgument, "stages: {} of them, not 1 to {}",
                pipeline.stages.size(), kMostStagesEach);
  }
  if (pipeline.window < 0 || pipeline.window > kMostWindow) {
    return fail(ErrorCode::kInvalidArgument, "window: {} is not 0 to {}", pipeline.window,
                kMostWindow);
  }
  if (pipeline.batch < 1) {
    return fail(ErrorCode::kInvalidArgument, "batch: {} is not at least 1", pipeline.batch);
  }
  PARETO_TRY(check_recording(pipeline));
  PARETO_TRY(with_context(check_arrivals(pipeline), "arrivals"));
  PARETO_TRY(check_duration(pipeline.source, pipeline, "source"));
  PARETO_TRY(check_duration(pipeline.sink, pipeline, "sink"));
  for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
    PARETO_TRY(with_context(check_stage(pipeline.stages[i], scenario, pipeline), "stage {}", i));
  }
  return with_context(check_crossing(pipeline.result, scenario, pipeline), "result");
}

template <typename Class>
Expected<> check_counts(const std::vector<Class>& classes, const char* what) {
  std::int64_t sum = 0;
  for (const Class& one : classes) {
    sum += one.count;
    if (one.count < 1 || sum > kMostInstances) {
      return fail(ErrorCode::kInvalidArgument,
                  "{} {}: count: {} is not at least 1, or more than {} in all", what, one.name,
                  one.count, kMostInstances);
    }
  }
  return {};
}

Expected<> check_end(const Scenario& scenario) {
  if (scenario.requests < 0 || scenario.duration.count() < 0 || scenario.duration > kLongest) {
    return fail(ErrorCode::kInvalidArgument, "requests or duration are out of range");
  }
  if (scenario.requests == 0 && scenario.duration.count() == 0) {
    return fail(ErrorCode::kInvalidArgument, "duration or requests is needed: when it ends");
  }
  if (scenario.requests > std::int64_t{1'000'000'000'000}) {
    return fail(ErrorCode::kInvalidArgument, "requests: {} are more than 1e12", scenario.requests);
  }
  const Nanoseconds warm_up = scenario.warm_up.value_or(Nanoseconds(0));
  if (warm_up.count() < 0 || warm_up > kLongest / 2 ||
      (scenario.duration.count() > 0 && warm_up > scenario.duration / 2)) {
    return fail(ErrorCode::kInvalidArgument, "warm_up has to be at most half the duration");
  }
  return {};
}

}  // namespace

std::string_view to_string(Shape shape) {
  constexpr std::array<std::string_view, 3> kNames{"lognormal", "normal", "exponential"};
  return kNames.at(static_cast<std::size_t>(shape));
}

Expected<> check(const Scenario& scenario) {
  PARETO_TRY(check_end(scenario));
  PARETO_TRY(check_counts(scenario.devices, "device"));
  PARETO_TRY(check_counts(scenario.media, "medium"));
  PARETO_TRY(check_counts(scenario.pipelines, "pipeline"));
  if (scenario.pipelines.empty()) {
    return fail(ErrorCode::kInvalidArgument, "pipelines are needed: there is nothing to simulate");
  }
  for (const DeviceClass& device : scenario.devices) {
    if (device.cores < 1 || device.cores > 1024 || !(device.speed >= 0.001) ||
        device.speed > 1000) {
      return fail(ErrorCode::kInvalidArgument,
                  "device {}: cores have to be 1 to 1024, and speed 0.001 to 1000", device.name);
    }
  }
  for (const DeviceClass& device : scenario.devices) {
    if (device.quota.count() == 0) continue;
    if (device.cores != 1 || device.quota.count() < 0 || device.quota > device.period ||
        device.period > kLongestTime) {
      return fail(ErrorCode::kInvalidArgument,
                  "device {}: a share is of one core, and at most 100 % of a period of at most 1 h",
                  device.name);
    }
  }
  for (const MediumClass& medium : scenario.media) {
    PARETO_TRY(with_context(check_condition(medium.condition), "medium {}", medium.name));
  }
  std::int64_t stages = 0;
  for (const PipelineClass& pipeline : scenario.pipelines) {
    PARETO_TRY(with_context(check_pipeline(pipeline, scenario), "pipeline {}", pipeline.name));
    stages += pipeline.count * static_cast<std::int64_t>(pipeline.stages.size());
  }
  if (stages > kMostStages) {
    return fail(ErrorCode::kInvalidArgument, "{} stages in all are more than {}", stages,
                kMostStages);
  }
  return {};
}

}  // namespace pareto::simulation
