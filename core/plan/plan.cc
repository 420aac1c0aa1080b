#include "core/plan/plan.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/json_reason.h"
#include "core/base/json_text.h"
#include "core/base/text.h"

namespace pareto::plan {
namespace {

constexpr std::size_t kMaxStages = 1024;
constexpr std::int64_t kMaxOperators = 1 << 20;

OperatorRanges ranges_of_stage(const StagePlan& stage) {
  return stage.operators.empty() ? OperatorRanges{{stage.begin, stage.end}} : stage.operators;
}

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
    for (const OperatorRange& range : ranges_of_stage(plan.stages[i]))
      ranges.emplace_back(range, i);
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
  if (plan.threads < 0 || plan.threads > 256)
    return fail(ErrorCode::kInvalidArgument, "plan: {} threads, not 0 to 256", plan.threads);
  if (!(plan.max_error >= 0 && plan.max_error <= 1)) {
    return fail(ErrorCode::kInvalidArgument, "plan: max_error {} is not 0 to 1 (100 %)",
                plan.max_error);
  }
  return {};
}

Expected<> check_keys(const nlohmann::json& json, const std::vector<std::string>& known,
                      const std::string& where) {
  if (!json.is_object()) {
    return fail(ErrorCode::kInvalidArgument, "{}: an object is expected, not {}", where,
                json.is_array() ? "a list" : json.type_name());
  }
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::find(known, key) == known.end()) {
      return fail(ErrorCode::kInvalidArgument, "{}: unknown key \"{}\"{}", where, key,
                  did_you_mean(key, known));
    }
  }
  return {};
}

constexpr const char* kSource = "model_source";

Expected<> check_all_keys(const nlohmann::json& json) {
  PARETO_TRY(check_keys(
      json,
      {"model", "splits", "stages", "replicas", "transport", "transports", "codecs", "batch",
       "micro_batch", "window", "engine", "precision", "threads", "max_error", kSource},
      "plan"));
  if (json.contains("transport") && json.contains("transports")) {
    return fail(ErrorCode::kInvalidArgument,
                "plan: \"transport\" of all links and \"transports\" of each: one of them is too "
                "many");
  }
  for (std::size_t i = 0; i < json.at("stages").size(); ++i) {
    PARETO_TRY(check_keys(json.at("stages").at(i), {"device", "begin", "end", "operators"},
                          fmt::format("plan: stage {}", i)));
  }
  return {};
}

/// Describes what was found instead of a number, for people: nothing that is nested.
std::string shown(const nlohmann::json& json) {
  return json.is_structured() ? "something nested" : json.dump();
}

/// A number that the target can hold: conversions of the library cut off what does not fit.
template <typename Whole>
Expected<> read_whole(const nlohmann::json& json, std::string_view key, Whole& target) {
  const bool fits = json.is_number_unsigned() ? std::in_range<Whole>(json.get<std::uint64_t>())
                                              : json.is_number_integer() &&
                                                    std::in_range<Whole>(json.get<std::int64_t>());
  if (!fits) {
    return fail(ErrorCode::kInvalidArgument, "plan: {}: {} is not a whole number up to {}", key,
                shown(json), std::numeric_limits<Whole>::max());
  }
  target = json.get<Whole>();
  return {};
}

/// Left as it is where the key is absent.
template <typename Whole>
Expected<> read_optional(const nlohmann::json& json, const char* key, Whole& target) {
  const auto found = json.find(key);
  return found == json.end() ? Expected<>() : read_whole(*found, key, target);
}

Expected<OperatorRanges> ranges_from(const nlohmann::json& json) {
  if (!json.is_array() || json.empty()) {
    return fail(ErrorCode::kInvalidArgument, "\"operators\" is a list of ranges [begin, end]");
  }
  OperatorRanges ranges;
  for (const auto& range : json) {
    if (!range.is_array() || range.size() != 2) {
      return fail(ErrorCode::kInvalidArgument, "\"operators\": {} is no range [begin, end]",
                  shown(range));
    }
    OperatorRange& read = ranges.emplace_back();
    PARETO_TRY(read_whole(range.at(0), "operators", read.begin));
    PARETO_TRY(read_whole(range.at(1), "operators", read.end));
  }
  return ranges;
}

/// Equal plans are equal however their ranges were written.
void write_shortest(StagePlan& stage) {
  stage.operators = united(std::move(stage.operators));
  if (stage.operators == OperatorRanges{{stage.begin, stage.end}}) stage.operators.clear();
}

}  // namespace

std::vector<std::string> Plan::device_names() const {
  std::vector<std::string> names;
  for (const StagePlan& stage : stages) names.push_back(stage.device);
  return names;
}

LinkEnds Plan::ends_of(std::size_t link) const {
  if (replicated) {
    return link % 2 == 0 ? LinkEnds{std::nullopt, link / 2} : LinkEnds{link / 2, std::nullopt};
  }
  LinkEnds ends;
  if (link > 0) ends.from = link - 1;
  if (link < stages.size()) ends.to = link;
  return ends;
}

ShardOperators Plan::operators_of(std::size_t stage) const {
  ShardOperators operators;
  if (stages.front().begin > 0) operators.before.push_back({0, stages.front().begin});
  for (std::size_t i = 0; i < stage && !replicated; ++i) {
    for (const OperatorRange& range : ranges_of_stage(stages[i])) operators.before.push_back(range);
  }
  operators.before = united(std::move(operators.before));
  operators.own = ranges_of_stage(stages[stage]);
  return operators;
}

bool Plan::has_own_order() const {
  return std::ranges::any_of(stages,
                             [](const StagePlan& stage) { return !stage.operators.empty(); });
}

void Plan::set_transports(std::vector<std::string> names) {
  transports = std::move(names);
  if (std::set<std::string>(transports.begin(), transports.end()).size() > 1) {
    transport = Plan{}.transport;
    return;
  }
  if (!transports.empty()) transport = transports.front();
  transports.clear();
}

std::string Plan::transport_text() const {
  return transports.empty() ? transport : join(transports, "+");
}

namespace {

nlohmann::ordered_json json_of(const Plan& plan) {
  nlohmann::ordered_json json{
      {"model", plan.model}, {"splits", plan.splits}, {"stages", nlohmann::ordered_json::array()}};
  for (const StagePlan& stage : plan.stages) {
    json["stages"].push_back(
        {{"device", stage.device}, {"begin", stage.begin}, {"end", stage.end}});
    if (stage.operators.empty()) continue;
    auto& ranges = json["stages"].back()["operators"] = nlohmann::ordered_json::array();
    for (const OperatorRange& range : stage.operators) ranges.push_back({range.begin, range.end});
  }
  if (plan.replicated) json["replicas"] = true;
  if (plan.transports.empty()) {
    json["transport"] = plan.transport;
  } else {
    json["transports"] = plan.transports;
  }
  json["codecs"] = plan.codecs;
  json["batch"] = plan.batch;
  json["micro_batch"] = plan.micro_batch;
  json["window"] = plan.window;
  json["engine"] = plan.engine;
  json["precision"] = plan.precision;
  json["threads"] = plan.threads;
  if (plan.max_error > 0) json["max_error"] = plan.max_error;
  return json;
}

nlohmann::ordered_json json_of(const ModelSource& source) {
  nlohmann::ordered_json json{{"model", source.model},
                              {"input_shape", source.input_shape},
                              {"num_classes", source.num_classes},
                              {"weights", source.weights},
                              {"model_seed", source.model_seed}};
  if (!source.inputs.empty()) json["inputs"] = source.inputs;
  if (!source.operators.empty()) json["operators"] = source.operators;
  return json;
}

Expected<ModelSource> source_from(const nlohmann::json& json) {
  PARETO_TRY(check_keys(
      json, {"model", "input_shape", "num_classes", "weights", "model_seed", "inputs", "operators"},
      kSource));
  ModelSource source;
  source.model = json.at("model").get<std::string>();
  source.input_shape = json.value("input_shape", source.input_shape);
  PARETO_TRY(read_optional(json, "num_classes", source.num_classes));
  source.weights = json.value("weights", source.weights);
  PARETO_TRY(read_optional(json, "model_seed", source.model_seed));
  source.inputs = json.value("inputs", source.inputs);
  source.operators = json.value("operators", source.operators);
  return source;
}

Expected<Plan> plan_from(const nlohmann::json& json) {
  Plan plan;
  plan.model = json.at("model").get<std::string>();
  plan.splits = json.at("splits").get<std::vector<std::string>>();
  for (const auto& stage : json.at("stages")) {
    StagePlan& read = plan.stages.emplace_back();
    read.device = stage.at("device").get<std::string>();
    PARETO_TRY(read_whole(stage.at("begin"), "begin", read.begin));
    PARETO_TRY(read_whole(stage.at("end"), "end", read.end));
    if (!stage.contains("operators")) continue;
    PARETO_ASSIGN(read.operators, with_context(ranges_from(stage.at("operators")), "plan: stage {}",
                                               plan.stages.size() - 1));
  }
  plan.replicated = json.value("replicas", false);
  plan.transport = json.value("transport", plan.transport);
  plan.transports = json.value("transports", plan.transports);
  plan.codecs = json.value("codecs", plan.codecs);
  PARETO_TRY(read_optional(json, "batch", plan.batch));
  PARETO_TRY(read_optional(json, "micro_batch", plan.micro_batch));
  PARETO_TRY(read_optional(json, "window", plan.window));
  plan.engine = json.value("engine", plan.engine);
  plan.precision = json.value("precision", plan.precision);
  PARETO_TRY(read_optional(json, "threads", plan.threads));
  plan.max_error = json.value("max_error", plan.max_error);
  PARETO_TRY(check(plan));
  for (StagePlan& stage : plan.stages) write_shortest(stage);
  plan.set_transports(plan.transports.empty() ? std::vector<std::string>{plan.transport}
                                              : plan.transports);
  return plan;
}

/// Returns what `take` makes of a document.
template <typename Take>
auto read_document(const std::string& text, const char* what, Take take)
    -> decltype(take(nlohmann::json())) {
  try {
    return take(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "this is no {}: {}", what, json_reason(error));
  }
}

}  // namespace

std::string to_json(const Plan& plan) { return dump(json_of(plan)); }
std::string to_json(const ModelSource& source) { return dump(json_of(source)); }

std::string to_json(const PlanFile& file) {
  nlohmann::ordered_json json = json_of(file.plan);
  if (file.source) json[kSource] = json_of(*file.source);
  return dump(json);
}

Expected<Plan> plan_from_json(const std::string& text) {
  return plan_file_from_json(text).map([](const PlanFile& file) { return file.plan; });
}

Expected<PlanFile> plan_file_from_json(const std::string& text) {
  return read_document(text, "plan", [](const nlohmann::json& json) -> Expected<PlanFile> {
    PARETO_TRY(check_all_keys(json));
    PlanFile file;
    PARETO_ASSIGN(file.plan, plan_from(json));
    if (json.contains(kSource)) {
      PARETO_ASSIGN(file.source, with_context(source_from(json.at(kSource)), "plan"));
    }
    return file;
  });
}

Expected<ModelSource> model_source_from_json(const std::string& text) {
  return read_document(text, kSource, source_from);
}

}  // namespace pareto::plan
