#include "client/watch/activity.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "client/watch/bottleneck.h"

namespace pareto::watch {
namespace {

/// Returns how much a counter rose; no value if it fell, because what counted has begun again.
std::optional<double> difference(std::uint64_t before, std::uint64_t now) {
  if (now < before) return {};
  return static_cast<double>(now - before);
}

std::optional<DurationCounts> difference(const DurationCounts& before, const DurationCounts& now) {
  DurationCounts grown;
  for (std::size_t i = 0; i < grown.counts.size(); ++i) {
    if (now.counts[i] < before.counts[i]) return {};
    grown.counts[i] = now.counts[i] - before.counts[i];
  }
  // One may be in the counts and not in the sum yet.
  grown.sum = std::max(now.sum - before.sum, Nanoseconds(0));
  return grown;
}

std::optional<DurationFigures> figures_of(const DurationCounts& durations) {
  const auto p50 = quantile_range(durations, 0.5);
  const auto p95 = quantile_range(durations, 0.95);
  if (!p50 || !p95) return {};
  return DurationFigures{to_milliseconds(durations.sum) / static_cast<double>(durations.total()),
                         *p50, *p95};
}

double share_of(Nanoseconds before, Nanoseconds now, double seconds) {
  return std::clamp(to_seconds(now - before) / seconds, 0.0, 1.0);
}

std::optional<StageRates> rates_between(const control::StageActivity& before,
                                        const control::StageActivity& now, double seconds) {
  const auto answered = difference(before.answered, now.answered);
  const auto failed = difference(before.failed_requests, now.failed_requests);
  const auto dropped = difference(before.dropped, now.dropped);
  const auto in = difference(before.bytes_received, now.bytes_received);
  const auto out = difference(before.bytes_sent, now.bytes_sent);
  const auto wait = difference(before.wait, now.wait);
  const auto compute = difference(before.compute, now.compute);
  if (!answered || !failed || !dropped || !in || !out || !wait || !compute) return {};
  StageRates rates;
  // A device may say anything: what no machine does is no number that bytes are shown by.
  constexpr double kMost = 1e18;
  const auto per_second = [&](double count) { return std::min(count / seconds, kMost); };
  rates.requests_per_s = per_second(*answered);
  rates.failed_per_s = per_second(*failed);
  rates.dropped_per_s = per_second(*dropped);
  rates.bytes_in_per_s = per_second(*in);
  rates.bytes_out_per_s = per_second(*out);
  rates.computing = std::min(to_seconds(compute->sum) / seconds, 1.0);
  rates.receiving = share_of(before.receiving, now.receiving, seconds);
  rates.sending = share_of(before.sending, now.sending, seconds);
  if (before.workers.size() == now.workers.size()) {
    std::ranges::transform(
        before.workers, now.workers, std::back_inserter(rates.workers),
        [&](Nanoseconds was, Nanoseconds is) { return share_of(was, is, seconds); });
  }
  rates.compute = figures_of(*compute);
  rates.wait = figures_of(*wait);
  return rates;
}

DeviceView device_between(const DeviceReading* before, const DeviceReading& now) {
  DeviceView view{now, {}, {}, {}};
  if (before == nullptr || !before->problem.empty() || !now.problem.empty()) return view;
  const Nanoseconds passed = now.observation.clock - before->observation.clock;
  // A clock that fell, or processor time that did: it is another process.
  if (passed <= Nanoseconds(0) || now.observation.cpu < before->observation.cpu) return view;
  view.seconds = to_seconds(passed);
  view.cpu = to_seconds(now.observation.cpu - before->observation.cpu) / *view.seconds /
             std::max(now.cores, 1);
  if (now.observation.turn_cores > 0) {
    view.turns = share_of(before->observation.turns, now.observation.turns,
                          *view.seconds * now.observation.turn_cores);
  }
  return view;
}

const control::StageActivity* find_stage(const DeviceReading& reading,
                                         const control::StageActivity& stage) {
  for (const control::StageActivity& one : reading.observation.stages) {
    if (one.pipeline == stage.pipeline && one.stage == stage.stage) return &one;
  }
  return nullptr;
}

/// Adds up what a shard computes for several pipelines.
void add_shards(std::vector<StageView>& stages) {
  std::map<std::pair<std::size_t, std::string>, double> computing;
  for (const StageView& stage : stages) {
    if (stage.rates) computing[{stage.device, stage.now.shard}] += stage.rates->computing;
  }
  for (StageView& stage : stages) {
    if (!stage.rates) continue;
    stage.rates->shard_computing = std::min(computing[{stage.device, stage.now.shard}], 1.0);
  }
}

LinkView link_into(const Activity& activity, const StageView* before, const StageView& stage) {
  LinkView link;
  link.to = stage_name(activity, stage);
  const bool follows = before != nullptr && before->now.stage + 1 == stage.now.stage;
  if (stage.now.stage == 0) {
    link.from = "source";
  } else if (follows) {
    link.from = stage_name(activity, *before);
    if (before->now.round_trip > Nanoseconds(0)) link.round_trip = before->now.round_trip;
    if (before->now.link_bytes_per_second > 0) {
      link.bytes_per_second_then = before->now.link_bytes_per_second;
    }
  } else {
    link.from = fmt::format("stage {} (not seen)", stage.now.stage - 1);
  }
  if (stage.rates) {
    // Not how long sending takes: that grows where the next stage takes no more.
    link.busy = stage.rates->receiving;
    link.bytes_per_s = stage.rates->bytes_in_per_s;
  }
  return link;
}

LinkView link_out_of(const Activity& activity, const StageView& last) {
  LinkView link;
  link.from = stage_name(activity, last);
  // Only the link to a next stage is measured when a pipeline is deployed.
  const bool to_sink = last.now.round_trip == Nanoseconds(0);
  link.to = to_sink ? "sink" : fmt::format("stage {} (not seen)", last.now.stage + 1);
  if (!to_sink) link.round_trip = last.now.round_trip;
  if (last.now.link_bytes_per_second > 0) {
    link.bytes_per_second_then = last.now.link_bytes_per_second;
  }
  if (last.rates) {
    link.busy = last.rates->sending;
    link.bytes_per_s = last.rates->bytes_out_per_s;
  }
  return link;
}

PipelineView pipeline_of(const Activity& activity, std::vector<StageView> stages) {
  PipelineView pipeline;
  std::ranges::stable_sort(stages, {}, [](const StageView& stage) { return stage.now.stage; });
  pipeline.id = stages.front().now.pipeline;
  pipeline.model = stages.front().now.model;
  const StageView* before = nullptr;
  for (const StageView& stage : stages) {
    pipeline.links.push_back(link_into(activity, before, stage));
    pipeline.in_flight += stage.now.in_flight;
    before = &stage;
  }
  pipeline.links.push_back(link_out_of(activity, stages.back()));
  if (const auto& rates = stages.back().rates) pipeline.requests_per_s = rates->requests_per_s;
  pipeline.stages = std::move(stages);
  return pipeline;
}

}  // namespace

std::optional<DurationRange> quantile_range(const DurationCounts& durations, double share) {
  const std::uint64_t total = durations.total();
  if (total == 0) return {};
  const double wanted = share * static_cast<double>(total);
  double below = 0;
  for (std::size_t i = 0; i < kDurationBounds.size(); ++i) {
    const auto here = static_cast<double>(durations.counts[i]);
    if (here > 0 && below + here >= wanted) {
      const double low = i == 0 ? 0 : to_milliseconds(kDurationBounds[i - 1]);
      return DurationRange{low, to_milliseconds(kDurationBounds[i])};
    }
    below += here;
  }
  return DurationRange{to_milliseconds(kDurationBounds.back()), {}};
}

std::string stage_name(const Activity& activity, const StageView& stage) {
  return fmt::format("stage {} on {}", stage.now.stage,
                     activity.devices.at(stage.device).reading.name);
}

std::string percent(double share) { return fmt::format("{:.0f} %", share * 100); }

Activity activity_between(const std::vector<DeviceReading>& before,
                          const std::vector<DeviceReading>& now) {
  Activity activity;
  std::vector<StageView> stages;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const DeviceReading* earlier = before.empty() ? nullptr : &before.at(i);
    const DeviceView& device = activity.devices.emplace_back(device_between(earlier, now[i]));
    if (!now[i].problem.empty()) continue;
    for (const control::StageActivity& stage : now[i].observation.stages) {
      if (stage.state == control::StageState::kClosed) continue;
      StageView& view = stages.emplace_back(StageView{i, stage, {}});
      const control::StageActivity* was = device.seconds ? find_stage(*earlier, stage) : nullptr;
      if (was != nullptr) view.rates = rates_between(*was, stage, *device.seconds);
    }
  }
  add_shards(stages);
  std::map<std::uint64_t, std::vector<StageView>> pipelines;
  for (StageView& stage : stages) pipelines[stage.now.pipeline].push_back(std::move(stage));
  for (auto& [id, own] : pipelines) {
    activity.pipelines.push_back(pipeline_of(activity, std::move(own)));
  }
  for (PipelineView& pipeline : activity.pipelines) {
    pipeline.bottleneck = bottleneck_of(activity, pipeline);
  }
  return activity;
}

}  // namespace pareto::watch
