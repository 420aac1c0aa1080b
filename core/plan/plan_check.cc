#include "core/plan/plan_check.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pareto::plan {
namespace {

constexpr std::size_t kMaxStages = 1024;
constexpr std::int64_t kMaxOperators = 1 << 20;

/// Checks that a stage that says which operators it runs has as many as lie between its ends.
Expected<> check_ranges(const StagePlan& stage, std::size_t index) {
  std::int64_t last = 0;
  std::int64_t count = 0;
  for (const OperatorRange& range : stage.operators) {
    if (range.begin < last || range.end <= range.begin || range.end > kMaxOperators) {
      return fail(ErrorCode::kInvalidArgument,
                  "plan: stage {} runs operators [{}, {}): ranges ascend, none is empty, and the "
                  "last ends at {} or before",
                  index, range.begin, range.end, kMaxOperators);
    }
    last = range.end;
    count += range.end - range.begin;
  }
  if (count == stage.end - stage.begin) return {};
  return fail(ErrorCode::kInvalidArgument,
              "plan: stage {} names {} operators, but between \"begin\" {} and \"end\" {} lie {}",
              index, count, stage.begin, stage.end, stage.end - stage.begin);
}

/// Checks that each operator of a plan that runs them in an order of its own stands in one stage.
Expected<> check_order(const Plan& plan) {
  std::vector<std::pair<OperatorRange, std::size_t>> ranges;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    if (!plan.stages[i].operators.empty()) PARETO_TRY(check_ranges(plan.stages[i], i));
    for (const OperatorRange& range : plan.stages[i].ranges()) ranges.emplace_back(range, i);
  }
  if (!plan.has_own_order()) return {};
  std::ranges::sort(ranges);
  std::int64_t last = 0;
  std::size_t stage = 0;
  for (const auto& [range, of] : ranges) {
    if (range.begin < last) {
      return fail(ErrorCode::kInvalidArgument, "plan: operator {} stands in stage {} and stage {}",
                  range.begin, stage, of);
    }
    if (range.begin > last) {
      return fail(ErrorCode::kInvalidArgument, "plan: operator {} stands in no stage", last);
    }
    last = range.end;
    stage = of;
  }
  return {};
}

Expected<> check_transports(const Plan& plan) {
  if (!plan.transports.empty() && plan.transports.size() != plan.links()) {
    return fail(ErrorCode::kInvalidArgument, "plan: {} transports for {} links: {}",
                plan.transports.size(), plan.links(),
                plan.replicated ? "of each replica the source's and the sink's"
                                : "the source's, one between each stage and the next, and the "
                                  "sink's");
  }
  for (std::size_t link = 0; link < plan.links(); ++link) {
    if (plan.transport_of(link).empty()) {
      return fail(ErrorCode::kInvalidArgument, "plan: the transport of link {} has no name", link);
    }
  }
  return {};
}

/// Stages one behind the other.
Expected<> check_pipeline(const Plan& plan) {
  if (plan.splits.size() + 1 != plan.stages.size()) {
    return fail(ErrorCode::kInvalidArgument, "plan: {} stages need {} split points, not {}",
                plan.stages.size(), plan.stages.size() - 1, plan.splits.size());
  }
  std::int64_t expected_begin = 0;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const StagePlan& stage = plan.stages[i];
    if (stage.begin != expected_begin || stage.end <= stage.begin) {
      return fail(
          ErrorCode::kInvalidArgument,
          "plan: stage {} covers operators {} to {}, but should begin at {} and not be empty", i,
          stage.begin, stage.end, expected_begin);
    }
    expected_begin = stage.end;
  }
  PARETO_TRY(check_order(plan));
  if (!plan.codecs.empty() && plan.codecs.size() != plan.splits.size()) {
    return fail(ErrorCode::kInvalidArgument, "plan: {} codecs for {} links between stages",
                plan.codecs.size(), plan.splits.size());
  }
  return {};
}

/// Whole models next to each other.
Expected<> check_replicas(const Plan& plan) {
  if (plan.stages.size() < 2 || !plan.splits.empty() || !plan.codecs.empty() ||
      plan.has_own_order() || plan.micro_batch > 0) {
    return fail(ErrorCode::kInvalidArgument,
                "plan: \"replicas\" are two stages at least, without \"splits\", \"codecs\", "
                "\"operators\" or \"micro_batch\"");
  }
  std::set<std::string> devices;
  for (const StagePlan& stage : plan.stages) {
    if (stage.begin != 0 || stage.end < 1 || stage.end != plan.stages.front().end) {
      return fail(ErrorCode::kInvalidArgument,
                  "plan: the replica on {} covers operators {} to {}, but each covers all of them: "
                  "0 to {}",
                  stage.device, stage.begin, stage.end, plan.stages.front().end);
    }
    if (!devices.insert(stage.device).second) {
      return fail(ErrorCode::kInvalidArgument, "plan: {} has two replicas", stage.device);
    }
  }
  return {};
}

/// Checks what needs no list of names. `at`: the place of its keys, "stages[1].settings.".
Expected<> check_settings(const StageSettings& settings, const std::string& at) {
  if (settings.threads < 0 || settings.threads > kMostThreads) {
    return fail(ErrorCode::kInvalidArgument,
                "plan: {}threads: {} is not 0 to {} (0: as the device is set)", at,
                settings.threads, kMostThreads);
  }
  if (!(settings.max_error >= 0 && settings.max_error <= 1)) {
    return fail(ErrorCode::kInvalidArgument,
                "plan: {}max_error: {} is not 0 (the device's default) to 1 (100 %)", at,
                settings.max_error);
  }
  if (settings.schedule.empty() || settings.schedule.size() > kMostScheduleBytes) {
    return fail(ErrorCode::kInvalidArgument, "plan: {}schedule: {} bytes are not 1 to {}", at,
                settings.schedule.size(), kMostScheduleBytes);
  }
  return {};
}

}  // namespace

Expected<> check(const Plan& plan) {
  if (plan.model.empty()) return fail(ErrorCode::kInvalidArgument, "plan: \"model\" is missing");
  if (plan.stages.empty() || plan.stages.size() > kMaxStages) {
    return fail(ErrorCode::kInvalidArgument, "plan: \"stages\" holds {} stages, not 1 to {}",
                plan.stages.size(), kMaxStages);
  }
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    if (!plan.stages[i].device.empty()) continue;
    return fail(ErrorCode::kInvalidArgument, "plan: stage {} names no device", i);
  }
  PARETO_TRY(plan.replicated ? check_replicas(plan) : check_pipeline(plan));
  PARETO_TRY(check_transports(plan));
  if (plan.batch < 1 || plan.batch > kMaxBatch) {
    return fail(ErrorCode::kInvalidArgument, "plan: batch {} is not 1 to {}", plan.batch,
                kMaxBatch);
  }
  if (plan.micro_batch < 0 || plan.micro_batch > plan.batch) {
    return fail(ErrorCode::kInvalidArgument,
                "plan: micro_batch {} is neither 0 (the whole batch) nor at most the batch of {}",
                plan.micro_batch, plan.batch);
  }
  if (plan.window < 0)
    return fail(ErrorCode::kInvalidArgument, "plan: window {} is negative (0 = auto)", plan.window);
  PARETO_TRY(check_settings(plan.settings, ""));
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    if (!plan.stages[i].settings) continue;
    PARETO_TRY(check_settings(*plan.stages[i].settings, fmt::format("stages[{}].settings.", i)));
  }
  return {};
}

}  // namespace pareto::plan
