#include "partitioner/planning/simulation/planned_scenario.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "partitioner/planning/simulation/scenario_file.h"
#include "partitioner/planning/simulation/wire.h"

namespace pareto::simulation {
namespace {

using planning::CostInputs;
using planning::DeviceCosts;
using planning::LinkCosts;
using planning::LinkTimes;
using planning::PlacedStage;
using planning::Placement;

constexpr std::int64_t kRequests = 20'000;

/// Standard deviation / mean; 0 of none.
double variation_of(const std::vector<double>& factors) {
  if (factors.empty()) return 0;
  const auto count = static_cast<double>(factors.size());
  const double mean = std::accumulate(factors.begin(), factors.end(), 0.0) / count;
  double squares = 0;
  for (const double factor : factors) squares += (factor - mean) * (factor - mean);
  return std::sqrt(squares / count) / mean;
}

/// Returns the duration of a message to be computed, which takes some time in a simulation.
Duration computing(Nanoseconds time, double cv) {
  Duration duration;
  duration.mean = std::max(time, Nanoseconds(1));
  duration.cv = cv;
  return duration;
}

/// Makes a scenario of a placement that evaluate() takes, link by link.
class Planned {
 public:
  Planned(const CostInputs& inputs, const Placement& placement)
      : inputs_(inputs), placement_(placement) {}

  Scenario make(const PlannedPipeline& wanted) {
    PipelineClass pipeline;
    pipeline.name = wanted.name;
    pipeline.window = wanted.window;
    pipeline.batch = wanted.batch;
    for (const PlacedStage& placed : placement_.stages) {
      pipeline.stages.push_back(stage_of(placed, static_cast<int>(pipeline.stages.size())));
    }
    int from = inputs_.coordinator();
    for (std::size_t i = 0; i <= placement_.stages.size(); ++i) {
      const bool last = i == placement_.stages.size();
      const int to = last ? inputs_.coordinator() : placement_.stages[i].device;
      const LinkTimes times = cross(i, from, to, last ? pipeline.result : pipeline.stages[i].link);
      if (i > 0) pipeline.stages[i - 1].send.mean = times.send;
      if (!last) pipeline.stages[i].receive.mean = times.receive;
      from = to;
    }
    scenario_.requests = kRequests;
    scenario_.pipelines.push_back(std::move(pipeline));
    return std::move(scenario_);
  }

 private:
  Stage stage_of(const PlacedStage& placed, int device_class) {
    const DeviceCosts& device = inputs_.devices[static_cast<std::size_t>(placed.device)];
    scenario_.devices.emplace_back().name = device.name;
    const double cv = variation_of(device.jitter);
    Stage stage;
    stage.device = device_class;
    stage.compute = computing(device.time(placed.begin, placed.end), cv);
    if (device.busy) stage.busy = computing(device.busy->time(placed.begin, placed.end), cv);
    return stage;
  }

  /// Returns the link before stage i, or after the last; what its ends take is the result.
  LinkTimes cross(std::size_t i, int from, int to, Crossing& crossing) {
    const bool last = i == placement_.stages.size();
    const int position = last ? inputs_.positions() : placement_.stages[i].begin;
    const int codec = placement_.codecs.empty() ? 0 : placement_.codecs[i];
    const LinkCosts& link = inputs_.link(from, to);
    const LinkTimes times = planning::crossing_times(
        inputs_, from, to, codec, i == 0 ? 0 : placement_.stages[i - 1].begin, position);
    const double factor =
        link.codecs.empty()
            ? 1
            : link.codecs[static_cast<std::size_t>(codec)].figures_at(position).bytes_factor;
    const double bytes = std::round(static_cast<double>(inputs_.boundary(position)) * factor);
    crossing.bytes = bytes_with_packet_headers(static_cast<std::uint64_t>(bytes) + kFrameBytes);
    crossing.places = connection_places(crossing.bytes);
    crossing.occupancy.mean = times.occupancy;
    crossing.delay.mean = std::max(times.delay, Nanoseconds(0));
    crossing.early = std::max(-times.delay, Nanoseconds(0));
    for (const planning::MediumUse& use : link.media) {
      crossing.media.push_back({medium_class(use.medium), use.share});
    }
    return times;
  }

  int medium_class(int medium) {
    const auto [found, is_new] = media_.emplace(medium, static_cast<int>(scenario_.media.size()));
    if (is_new) {
      const std::vector<std::string>& names = inputs_.medium_names;
      scenario_.media.emplace_back().name = names.empty() ? fmt::format("medium-{}", medium)
                                                          : names[static_cast<std::size_t>(medium)];
    }
    return found->second;
  }

  const CostInputs& inputs_;
  const Placement& placement_;
  Scenario scenario_;
  std::map<int, int> media_;  ///< their classes
};

}  // namespace

Expected<Scenario> planned_scenario(const CostInputs& inputs, const Placement& placement,
                                    const PlannedPipeline& pipeline) {
  if (placement.replicated) {
    return fail(ErrorCode::kInvalidArgument,
                "the plan has replicas that take turns, and pipelines are what is simulated: leave "
                "them out (--no-replicas)");
  }
  PARETO_TRY(planning::evaluate(inputs, placement));
  Scenario scenario = Planned(inputs, placement).make(pipeline);
  PARETO_TRY(check(scenario));
  return scenario;
}

}  // namespace pareto::simulation
