// Problems at random, and the least time that any schedule may take.
#pragma once

#include <algorithm>
#include <random>

#include "partitioner/planning/tasks/task_problem.h"

namespace pareto::tasks {

struct RandomProblemOptions {
  std::size_t most_tasks = 12;
  std::size_t most_stages = 3;
  bool arrivals = false;
  bool devices = false;  ///< workers on several devices, which take different times
};

inline Problem random_problem(std::mt19937& random, const RandomProblemOptions& options) {
  Problem problem;
  problem.workers.resize(1 + random() % 4);
  if (options.devices) {
    for (std::size_t i = 0; i < problem.workers.size(); ++i) problem.workers[i].device = i / 2;
  }
  problem.tasks.resize(1 + random() % options.most_tasks);
  for (PlannedTask& task : problem.tasks) {
    if (options.arrivals) task.arrival = Nanoseconds(random() % 2000);
    task.priority = static_cast<int>(random() % 3);
    if (random() % 2 == 0) task.deadline = task.arrival + Nanoseconds(1 + random() % 3000);
    task.stages.resize(1 + random() % options.most_stages);
    for (StageCost& stage : task.stages) {
      stage.time = Nanoseconds(1 + random() % 500);
      if (!options.devices) continue;
      for (std::size_t i = 0; i < 2; ++i) {
        stage.on_device.emplace_back(1 + random() % 500);
      }
    }
  }
  return problem;
}

/// Returns what no schedule can be faster than, if all tasks come together and devices are alike.
inline Nanoseconds lower_bound(const Problem& problem) {
  Nanoseconds sum{};
  Nanoseconds longest{};
  for (const PlannedTask& task : problem.tasks) {
    sum += task.time_from(0);
    longest = std::max(longest, task.time_from(0));
  }
  return std::max(longest, sum / static_cast<long>(problem.workers.size()));
}

}  // namespace pareto::tasks
