#include "partitioner/planning/cost/evaluate.h"

#include <algorithm>
#include <set>

#include "partitioner/planning/cost/plan_values.h"

namespace pareto::planning {
namespace {

/// Calls visit(place, objective) for each searched objective.
template <typename Visit>
void for_each_searched(Visit visit) {
  const auto& all = searched_objectives();
  for (std::size_t i = 0; i < all.size(); ++i) visit(i, *all[i]);
}

/// Sums and maxima of one pipeline.
struct Totals {
  explicit Totals(const CostInputs& inputs)
      : media(static_cast<std::size_t>(std::max(inputs.media, 0))) {}

  Nanoseconds latency{};
  Nanoseconds bottleneck{};
  std::vector<Nanoseconds> media;
  Values values{};  ///< values of searched_objectives()
  std::int64_t boundary_bytes = 0;

  /// Adds `part(objective)` to each value of a pipeline.
  template <typename Part>
  void add(Part part) {
    for_each_searched([&](std::size_t i, const Objective& objective) {
      values[i] = combined(objective.searched->stages, values[i], part(objective));
    });
  }
};

Expected<> check_stage(const CostInputs& inputs, const PlacedStage& stage, int begin) {
  if (stage.device < 0 || stage.device >= inputs.coordinator()) {
    return fail(ErrorCode::kInvalidArgument, "there is no device {}", stage.device);
  }
  if (stage.begin != begin || stage.end <= stage.begin || stage.end > inputs.positions()) {
    return fail(ErrorCode::kInvalidArgument, "operators {} to {} after {} of {}", stage.begin,
                stage.end, begin, inputs.positions());
  }
  if (!inputs.may_lie(stage.begin, stage.end)) {
    return fail(ErrorCode::kInvalidArgument, "no stage lies between {} and {}", stage.begin,
                stage.end);
  }
  if (!inputs.may_cut(stage.end)) {
    return fail(ErrorCode::kInvalidArgument, "no cut is legal at {}", stage.end);
  }
  const DeviceCosts& device = inputs.devices[static_cast<std::size_t>(stage.device)];
  if ((stage.begin == 0 && !device.may_be_first) ||
      (stage.end == inputs.positions() && !device.may_be_last)) {
    return fail(ErrorCode::kInvalidArgument, "{} may not stand there", device.name);
  }
  const std::int64_t bytes = stage_memory_bytes(device, stage.begin, stage.end);
  if (bytes > device.memory_limit_bytes) {
    return fail(ErrorCode::kExhausted, "{} needs {} bytes of {}", device.name, bytes,
                device.memory_limit_bytes);
  }
  if (!has_room(inputs, device, stage.begin, stage.end)) {
    return fail(ErrorCode::kExhausted, "{} was seen to have no room for a part of [{}, {})",
                device.name, stage.begin, stage.end);
  }
  return {};
}

/// Adds the link that a stage of [begin, position) sends over. Returns what the link takes.
Expected<LinkTimes> cross(const CostInputs& inputs, int from, int to, int codec, int begin,
                          int position, Totals& totals) {
  const LinkCosts& link = inputs.link(from, to);
  if (!link.usable) return fail(ErrorCode::kUnavailable, "no link from {} to {}", from, to);
  if (codec < 0 || codec >= codec_count(link)) {
    return fail(ErrorCode::kInvalidArgument, "the link from {} to {} has no codec {}", from, to,
                codec);
  }
  const LinkTimes times = crossing_times(inputs, from, to, codec, begin, position);
  totals.latency += times.occupancy + times.delay;
  totals.bottleneck = std::max(totals.bottleneck, times.occupancy);
  for (const MediumUse& use : link.media) {
    totals.media[static_cast<std::size_t>(use.medium)] += use.time(times.occupancy);
  }
  const HopView hop = hop_view(inputs, link, codec, position);
  totals.add([&](const Objective& objective) { return hop_value(objective, hop); });
  return times;
}

Expected<Totals> follow(const CostInputs& inputs, const std::vector<PlacedStage>& stages,
                        const std::vector<int>& codecs) {
  if (stages.empty() || (!codecs.empty() && codecs.size() != stages.size() + 1)) {
    return fail(ErrorCode::kInvalidArgument, "{} stages with {} codecs", stages.size(),
                codecs.size());
  }
  const auto codec = [&](std::size_t link) { return codecs.empty() ? 0 : codecs[link]; };
  Totals totals(inputs);
  std::set<int> used;
  int begin = 0;
  PARETO_ASSIGN(LinkTimes arrival, cross(inputs, inputs.coordinator(),
                                         std::clamp(stages.front().device, 0, inputs.coordinator()),
                                         codec(0), 0, 0, totals));
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const PlacedStage& stage = stages[i];
    PARETO_TRY(check_stage(inputs, stage, begin));
    if (!used.insert(stage.device).second) {
      return fail(ErrorCode::kInvalidArgument, "device {} has two stages", stage.device);
    }
    const bool last = i + 1 == stages.size();
    const int next =
        last ? inputs.coordinator() : std::clamp(stages[i + 1].device, 0, inputs.coordinator() - 1);
    PARETO_ASSIGN(const LinkTimes departure,
                  cross(inputs, stage.device, next, codec(i + 1), begin, stage.end, totals));
    const DeviceCosts& device = inputs.devices[static_cast<std::size_t>(stage.device)];
    const Nanoseconds messages = arrival.receive + departure.send;
    const Nanoseconds time = messages + device.time(stage.begin, stage.end);
    totals.latency += time;
    totals.bottleneck =
        std::max(totals.bottleneck, messages + device.when_busy().time(stage.begin, stage.end));
    totals.add([&](const Objective& objective) {
      return stage_value(objective, device, stage.begin, stage.end, time);
    });
    if (!last) totals.boundary_bytes += inputs.boundary(stage.end);
    arrival = departure;
    begin = stage.end;
  }
  if (begin != inputs.positions()) {
    return fail(ErrorCode::kInvalidArgument, "operators from {} on run nowhere", begin);
  }
  return totals;
}

Evaluation evaluation_of(const Totals& totals, int turn) {
  Evaluation evaluation;
  evaluation.bottleneck = std::max(totals.bottleneck, Nanoseconds(1));
  for (const Nanoseconds load : totals.media) {
    evaluation.bottleneck = std::max(evaluation.bottleneck, load);
  }
  // Responses under any window are whole nanoseconds then. Rounded ones would not compare as exact
  // ones do.
  evaluation.bottleneck = turn * Nanoseconds((evaluation.bottleneck.count() + turn - 1) / turn);
  evaluation.latency = std::max(totals.latency, evaluation.bottleneck);
  evaluation.turn = turn;
  for_each_searched([&](std::size_t i, const Objective& objective) {
    evaluation.values[i] = of_replicas(objective.searched->replicas, totals.values[i], turn);
  });
  evaluation.boundary_bytes = totals.boundary_bytes;
  return evaluation;
}

}  // namespace

std::vector<Placement> replicas_of(const Placement& placement) {
  if (!placement.replicated) return {placement};
  std::vector<Placement> replicas;
  for (std::size_t i = 0; i < placement.stages.size(); ++i) {
    Placement& replica = replicas.emplace_back();
    replica.stages = {placement.stages[i]};
    if (placement.codecs.empty()) continue;
    replica.codecs = {placement.codecs[2 * i], placement.codecs[2 * i + 1]};
  }
  return replicas;
}

Expected<Evaluation> evaluate(const CostInputs& inputs, const Placement& placement) {
  if (!placement.replicated) {
    PARETO_ASSIGN(const Totals totals, follow(inputs, placement.stages, placement.codecs));
    return evaluation_of(totals, 1);
  }
  if (!placement.codecs.empty() && placement.codecs.size() != 2 * placement.stages.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} replicas with {} codecs", placement.stages.size(),
                placement.codecs.size());
  }
  Totals all(inputs);
  std::set<int> used;
  for (const Placement& replica : replicas_of(placement)) {
    PARETO_ASSIGN(const Totals one, follow(inputs, replica.stages, replica.codecs));
    const int device = replica.stages.front().device;
    if (!used.insert(device).second) {
      return fail(ErrorCode::kInvalidArgument, "device {} is two replicas", device);
    }
    all.latency = std::max(all.latency, one.latency);
    all.bottleneck = std::max(all.bottleneck, one.bottleneck);
    for (std::size_t m = 0; m < all.media.size(); ++m) all.media[m] += one.media[m];
    for_each_searched([&](std::size_t i, const Objective& objective) {
      all.values[i] = combined(objective.searched->replicas, all.values[i], one.values[i]);
    });
  }
  if (used.empty()) return fail(ErrorCode::kInvalidArgument, "no replicas");
  return evaluation_of(all, static_cast<int>(used.size()));
}

OperatingPoint at_window(const Evaluation& evaluation, int window) {
  return {std::max(evaluation.latency, window * evaluation.bottleneck / evaluation.turn), window};
}

std::int64_t value_at(const Objective& objective, std::int64_t value, const OperatingPoint& point) {
  const auto at_window = objective.searched->at_window;
  return at_window == nullptr ? value : at_window(value, point.latency.count(), point.window);
}

std::vector<OperatingPoint> operating_points(const Evaluation& evaluation, WindowRange range) {
  const std::int64_t work = evaluation.latency.count() * evaluation.turn;
  const std::int64_t bottleneck = evaluation.bottleneck.count();
  const auto in_range = [range](std::int64_t window) {
    return static_cast<int>(std::clamp<std::int64_t>(window, range.least, range.most));
  };
  const int below = in_range(work / bottleneck);
  const int above = in_range((work + bottleneck - 1) / bottleneck);
  if (below == above) return {at_window(evaluation, below)};
  return {at_window(evaluation, below), at_window(evaluation, above)};
}

Measurement predicted_measurement(const Evaluation& evaluation, OperatingPoint point,
                                  std::int64_t batch) {
  Measurement measurement;
  const double milliseconds = to_milliseconds(point.latency);
  measurement.latency_p50_ms = milliseconds;
  measurement.latency_p90_ms = milliseconds;
  measurement.latency_p99_ms = milliseconds;
  measurement.latency_mean_ms = milliseconds;
  measurement.latency_window = point.window;
  measurement.throughput_per_s = point.throughput_per_s() * static_cast<double>(batch);
  measurement.throughput_window = point.window;
  measurement.batch = batch;
  measurement.boundary_bytes = static_cast<std::uint64_t>(evaluation.boundary_bytes);
  return measurement;
}

}  // namespace pareto::planning
