// Inference tasks that share the workers of a device: what is to be run, and by when.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"

namespace pareto::tasks {

/// The most tasks of one run.
inline constexpr std::size_t kMostTasks = 10'000;

/// The longest time from an arrival to a deadline: a later one is as good as this.
inline constexpr std::chrono::hours kFarDeadline{24 * 365};

/// A model as tasks run it. Tasks of equal models share what is loaded.
struct TaskModel {
  std::string model;                  ///< built-in name, or path of a file
  std::int64_t batch = 1;             ///< samples of a task
  std::string input_shape{};          ///< as --input-shape takes it; empty: the model's own
  std::vector<std::string> inputs{};  ///< .npy files, one an input; empty: made-up values
  std::string weights{};              ///< file of a built-in model's weights; empty: random ones

  /// Returns "resnet50", or "resnet50 x8" at another batch than 1.
  std::string title() const;
  bool operator==(const TaskModel&) const = default;
};

/// One inference. Times count from the moment at which the run begins.
struct Task {
  std::size_t model = 0;  ///< index into TaskSet::models
  Nanoseconds arrival{};
  std::optional<Nanoseconds> deadline{};  ///< moment by which it should be done
  int priority = 0;                       ///< larger ones go first, where a schedule asks
};

/// Tasks in the order in which they were given, which decides between tasks that arrive together.
struct TaskSet {
  std::vector<TaskModel> models{};
  std::vector<Task> tasks{};

  /// Returns the index of that model, which is added if it is not there.
  std::size_t index_of(const TaskModel& model);
  bool has_deadlines() const;
  /// Returns whether tasks differ in priority.
  bool has_priorities() const;
};

}  // namespace pareto::tasks
