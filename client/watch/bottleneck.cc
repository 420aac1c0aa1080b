#include "client/watch/bottleneck.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/text.h"

namespace pareto::watch {
namespace {

std::string count_of(std::uint64_t requests) {
  return fmt::format("{} request{} in flight", requests, requests == 1 ? "" : "s");
}

/// Returns the index of the largest of those that have one.
template <typename Items, typename Share>
Bottleneck busiest(const Items& items, Limit limit, Share share_of) {
  Bottleneck most{limit, 0, -1, ""};
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::optional<double> share = share_of(items[i]);
    if (share && *share > most.share) most = {limit, i, *share, ""};
  }
  return most;
}

std::string stage_words(const Activity& activity, const StageView& stage, double share) {
  std::string words = fmt::format("{} is the bottleneck: it computes {} of the time",
                                  stage_name(activity, stage), percent(share));
  if (stage.rates->shard_computing > stage.rates->computing) {
    words += fmt::format(", {} for other pipelines",
                         percent(stage.rates->shard_computing - stage.rates->computing));
  }
  if (stage.rates->wait) {
    words += fmt::format("; requests wait {:.3g} ms for it (mean)", stage.rates->wait->mean_ms);
  }
  const auto& throttled = activity.devices.at(stage.device).reading.observation.machine.throttled;
  if (!throttled.empty()) {
    words += fmt::format("; its device is slowed down ({})", join(throttled));
  }
  return words;
}

std::string link_words(const LinkView& link, double share) {
  std::string words = fmt::format(
      "the link from {} to {} is the bottleneck: bytes are on their way {} of the time, {}/s",
      link.from, link.to, percent(share),
      format_bytes(static_cast<std::uint64_t>(link.bytes_per_s.value_or(0))));
  if (link.to == "sink") words += "; or the coordinator takes its results slowly";
  return words;
}

std::string none_words(const Activity& activity, const PipelineView& pipeline,
                       const Bottleneck& busiest_stage) {
  return fmt::format(
      "no bottleneck: {} computes most, {} of the time; with {} now, a larger window or more "
      "requests would carry more",
      stage_name(activity, pipeline.stages[busiest_stage.index]), percent(busiest_stage.share),
      count_of(pipeline.in_flight));
}

/// Returns the first stage that is in such a state.
std::optional<Bottleneck> first_that(const PipelineView& pipeline, control::StageState state,
                                     Limit limit) {
  const auto stage =
      std::ranges::find(pipeline.stages, state, [](const StageView& one) { return one.now.state; });
  if (stage == pipeline.stages.end()) return {};
  return Bottleneck{limit, static_cast<std::size_t>(stage - pipeline.stages.begin()), 0, ""};
}

/// Returns a stage because of which a pipeline carries no more requests: how busy anybody is says
/// nothing then.
std::optional<Bottleneck> ended(const Activity& activity, const PipelineView& pipeline) {
  if (auto failed = first_that(pipeline, control::StageState::kFailed, Limit::kFailed)) {
    const StageView& stage = pipeline.stages[failed->index];
    failed->words = stage_name(activity, stage) + " failed";
    if (!stage.now.failure.empty()) failed->words += ": " + stage.now.failure;
    return failed;
  }
  if (auto draining = first_that(pipeline, control::StageState::kDraining, Limit::kDraining)) {
    draining->words = stage_name(activity, pipeline.stages[draining->index]) +
                      " is draining: it takes no more requests";
    return draining;
  }
  return {};
}

}  // namespace

Bottleneck bottleneck_of(const Activity& activity, const PipelineView& pipeline) {
  if (auto end = ended(activity, pipeline)) return *std::move(end);
  Bottleneck stage = busiest(pipeline.stages, Limit::kStage, [](const StageView& one) {
    return one.rates ? std::optional(one.rates->shard_computing) : std::nullopt;
  });
  Bottleneck link =
      busiest(pipeline.links, Limit::kLink, [](const LinkView& one) { return one.busy; });
  if (stage.share < 0) return {Limit::kUnknown, 0, 0, "not measured yet"};
  const bool moving = std::ranges::any_of(pipeline.stages, [](const StageView& one) {
    return one.rates && one.rates->requests_per_s + one.rates->failed_per_s > 0;
  });
  // Before shares: a shard may compute for other pipelines.
  if (!moving && pipeline.in_flight == 0) return {Limit::kIdle, 0, 0, "idle: no requests"};
  if (std::max(stage.share, link.share) >= kBusyShare) {
    if (link.share > stage.share) {
      link.words = link_words(pipeline.links[link.index], link.share);
      return link;
    }
    stage.words = stage_words(activity, pipeline.stages[stage.index], stage.share);
    return stage;
  }
  if (!moving) {
    return {Limit::kPending, 0, 0,
            fmt::format("no request was done meanwhile, with {}: a longer --interval tells more",
                        count_of(pipeline.in_flight))};
  }
  stage.words = none_words(activity, pipeline, stage);
  stage.limit = Limit::kNone;
  return stage;
}

}  // namespace pareto::watch
