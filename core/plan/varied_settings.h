// Names what plans differ in of how their stages are run: numbers of threads, schedules. Tables and
// documents have a column for each.
#pragma once

#include <string>
#include <vector>

#include "core/plan/plan.h"

namespace pareto::plan {

/// The settings that are not the same in all of some plans.
class VariedSettings {
 public:
  /// Nothing varies.
  VariedSettings() = default;
  explicit VariedSettings(const std::vector<const Plan*>& plans);

  bool any() const { return threads_ || schedule_; }
  /// Returns "threads", "schedule": those that vary.
  std::vector<std::string> names() const;
  /// Returns what a plan has of each, in their order: "2", "sequential+clusters".
  std::vector<std::string> texts(const Plan& plan) const;
  /// Returns "threads 2, schedule clusters"; empty if nothing varies.
  std::string sentence(const Plan& plan) const;

 private:
  bool threads_ = false;
  bool schedule_ = false;
};

}  // namespace pareto::plan
