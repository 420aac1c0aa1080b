#include "core/plan/plan.h"

#include <nlohmann/json.hpp>

namespace pareto {
namespace {

constexpr std::size_t kMaxStages = 1024;

Expected<> check(const Plan& plan) {
  if (plan.model.empty()) return fail(ErrorCode::kInvalidArgument, "plan: \"model\" is missing");
  if (plan.stages.empty() || plan.stages.size() > kMaxStages) {
    return fail(ErrorCode::kInvalidArgument, "plan: \"stages\" holds {} stages, not 1 to {}",
                plan.stages.size(), kMaxStages);
  }
  if (plan.splits.size() + 1 != plan.stages.size()) {
    return fail(ErrorCode::kInvalidArgument, "plan: {} stages need {} split points, not {}",
                plan.stages.size(), plan.stages.size() - 1, plan.splits.size());
  }
  std::int64_t expected_begin = 0;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const StagePlan& stage = plan.stages[i];
    if (stage.device.empty())
      return fail(ErrorCode::kInvalidArgument, "plan: stage {} names no device", i);
    if (stage.begin != expected_begin || stage.end <= stage.begin) {
      return fail(
          ErrorCode::kInvalidArgument,
          "plan: stage {} covers operators {} to {}, but should begin at {} and not be empty", i,
          stage.begin, stage.end, expected_begin);
    }
    expected_begin = stage.end;
  }
  if (!plan.codecs.empty() && plan.codecs.size() != plan.splits.size()) {
    return fail(ErrorCode::kInvalidArgument, "plan: {} codecs for {} links between stages",
                plan.codecs.size(), plan.splits.size());
  }
  if (plan.batch < 1)
    return fail(ErrorCode::kInvalidArgument, "plan: batch {} is not at least 1", plan.batch);
  if (plan.micro_batch < 0 || plan.micro_batch > plan.batch) {
    return fail(ErrorCode::kInvalidArgument,
                "plan: micro_batch {} is neither 0 (the whole batch) nor at most the batch of {}",
                plan.micro_batch, plan.batch);
  }
  if (plan.window < 0)
    return fail(ErrorCode::kInvalidArgument, "plan: window {} is negative (0 = auto)", plan.window);
  if (plan.threads < 0 || plan.threads > 256)
    return fail(ErrorCode::kInvalidArgument, "plan: {} threads, not 0 to 256", plan.threads);
  return {};
}

}  // namespace

std::string to_json(const Plan& plan) {
  nlohmann::ordered_json json{{"model", plan.model},
                              {"splits", plan.splits},
                              {"stages", nlohmann::ordered_json::array()},
                              {"transport", plan.transport},
                              {"codecs", plan.codecs},
                              {"batch", plan.batch},
                              {"micro_batch", plan.micro_batch},
                              {"window", plan.window},
                              {"engine", plan.engine},
                              {"precision", plan.precision},
                              {"threads", plan.threads}};
  for (const StagePlan& stage : plan.stages) {
    json["stages"].push_back(
        {{"device", stage.device}, {"begin", stage.begin}, {"end", stage.end}});
  }
  return json.dump();
}

Expected<Plan> plan_from_json(const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    Plan plan;
    plan.model = json.at("model").get<std::string>();
    plan.splits = json.at("splits").get<std::vector<std::string>>();
    for (const auto& stage : json.at("stages")) {
      plan.stages.push_back({stage.at("device").get<std::string>(),
                             stage.at("begin").get<std::int64_t>(),
                             stage.at("end").get<std::int64_t>()});
    }
    plan.transport = json.value("transport", plan.transport);
    plan.codecs = json.value("codecs", plan.codecs);
    plan.batch = json.value("batch", plan.batch);
    plan.micro_batch = json.value("micro_batch", plan.micro_batch);
    plan.window = json.value("window", plan.window);
    plan.engine = json.value("engine", plan.engine);
    plan.precision = json.value("precision", plan.precision);
    plan.threads = json.value("threads", plan.threads);
    PARETO_TRY(check(plan));
    return plan;
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "plan: {}", error.what());
  }
}

}  // namespace pareto
