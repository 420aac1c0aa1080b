// A mix of heavy and light tasks: how many of each, in which order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "partitioner/planning/tasks/arrivals.h"
#include "partitioner/planning/tasks/task.h"

namespace pareto::tasks {

struct MixOptions {
  TaskModel heavy{.model = "resnet50"};
  TaskModel light{.model = "squeezenet1_0"};
  std::size_t tasks = 10;
  double heavy_share = 0.5;  ///< share of heavy tasks, 0 to 1
  std::uint64_t seed = 1;    ///< decides the order, and arrivals at random
  Arrivals arrivals{};
  std::optional<Nanoseconds> deadline{};  ///< deadline of each task, counted from its arrival
};

/// Parses "1:2" as the share of heavy tasks, a third. Fails: kInvalidArgument (0:0, no numbers).
Expected<double> parse_ratio(const std::string& text);

/// Makes the tasks in an order that the seed decides. The number of heavy ones is the share's,
/// rounded. Fails: kInvalidArgument (no tasks, too many of them).
Expected<TaskSet> make_mix(const MixOptions& options);

/// Brings tasks into an order that `random` decides. It is the same on every machine.
void shuffle(std::vector<Task>& tasks, std::mt19937_64& random);

}  // namespace pareto::tasks
