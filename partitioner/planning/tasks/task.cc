#include "partitioner/planning/tasks/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace pareto::tasks {

std::string TaskModel::title() const {
  const std::string name = std::filesystem::path(model).filename().string();
  return batch == 1 ? name : fmt::format("{} x{}", name, batch);
}

std::size_t TaskSet::index_of(const TaskModel& model) {
  const auto found = std::ranges::find(models, model);
  const auto index = static_cast<std::size_t>(found - models.begin());
  if (found == models.end()) models.push_back(model);
  return index;
}

bool TaskSet::has_deadlines() const {
  return std::ranges::any_of(tasks, [](const Task& task) { return task.deadline.has_value(); });
}

bool TaskSet::has_priorities() const {
  return std::ranges::any_of(
      tasks, [&](const Task& task) { return task.priority != tasks.front().priority; });
}

}  // namespace pareto::tasks
