#include "core/plan/varied_settings.h"

#include "core/base/text.h"

namespace pareto::plan {

VariedSettings::VariedSettings(const std::vector<const Plan*>& plans) {
  if (plans.empty()) return;
  const std::string threads = plans.front()->threads_text();
  const std::string schedule = plans.front()->schedule_text();
  for (const Plan* const plan : plans) {
    threads_ = threads_ || plan->threads_text() != threads;
    schedule_ = schedule_ || plan->schedule_text() != schedule;
  }
}

std::vector<std::string> VariedSettings::names() const {
  std::vector<std::string> all;
  if (threads_) all.emplace_back("threads");
  if (schedule_) all.emplace_back("schedule");
  return all;
}

std::vector<std::string> VariedSettings::texts(const Plan& plan) const {
  std::vector<std::string> all;
  if (threads_) all.push_back(plan.threads_text());
  if (schedule_) all.push_back(plan.schedule_text());
  return all;
}

std::string VariedSettings::sentence(const Plan& plan) const {
  std::vector<std::string> all = texts(plan);
  const std::vector<std::string> titles = names();
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = titles[i] + " " + all[i];
  return join(all);
}

}  // namespace pareto::plan
