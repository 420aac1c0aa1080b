#include "core/plan/plan.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "core/base/text.h"

namespace pareto::plan {

OperatorRanges StagePlan::ranges() const {
  return operators.empty() ? OperatorRanges{{begin, end}} : operators;
}

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
    for (const OperatorRange& range : stages[i].ranges()) operators.before.push_back(range);
  }
  operators.before = united(std::move(operators.before));
  operators.own = stages[stage].ranges();
  return operators;
}

bool Plan::has_own_order() const {
  return std::ranges::any_of(stages,
                             [](const StagePlan& stage) { return !stage.operators.empty(); });
}

std::int64_t Plan::message_batch() const {
  if (micro_batch > 0) return micro_batch;
  bool overlaps = stages.empty() && settings.schedule == kOverlapSchedule;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    overlaps = overlaps || settings_of(i).schedule == kOverlapSchedule;
  }
  return overlaps && !replicated ? (batch + 1) / 2 : batch;
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

const StageSettings& Plan::settings_of(std::size_t stage) const {
  return stages[stage].settings ? *stages[stage].settings : settings;
}

bool Plan::has_own_settings() const {
  return std::ranges::any_of(stages,
                             [](const StagePlan& stage) { return stage.settings.has_value(); });
}

namespace {

/// Returns a setting of all stages: once if they are alike, else joined.
template <typename TextOf>
std::string setting_text(const Plan& plan, TextOf text_of) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    texts.push_back(text_of(plan.settings_of(i)));
  }
  if (std::ranges::adjacent_find(texts, std::ranges::not_equal_to()) != texts.end()) {
    return join(texts, "+");
  }
  return texts.empty() ? text_of(plan.settings) : texts.front();
}

}  // namespace

std::string Plan::engine_text() const {
  return setting_text(*this, [](const StageSettings& one) { return one.engine; });
}
std::string Plan::precision_text() const {
  return setting_text(*this, [](const StageSettings& one) { return one.precision; });
}
std::string Plan::threads_text() const {
  return setting_text(*this, [](const StageSettings& one) { return std::to_string(one.threads); });
}
std::string Plan::schedule_text() const {
  return setting_text(*this, [](const StageSettings& one) { return schedule_title(one.schedule); });
}

}  // namespace pareto::plan
