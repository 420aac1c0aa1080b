#include "partitioner/planning/tasks/task_mix.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/base/text.h"

namespace pareto::tasks {

Expected<double> parse_ratio(const std::string& text) {
  const std::vector<std::string> parts = split_list(text, ':');
  std::vector<double> numbers;
  for (const std::string& part : parts) {
    double number = -1;
    const char* const end = part.data() + part.size();
    const auto [at, status] = std::from_chars(part.data(), end, number);
    if (status != std::errc() || at != end || !(number >= 0 && number <= 1e6)) break;
    numbers.push_back(number);
  }
  if (parts.size() != 2 || numbers.size() != 2) {
    return fail(ErrorCode::kInvalidArgument, "ratio {}: heavy to light tasks are needed, as in 1:2",
                text);
  }
  const double sum = numbers[0] + numbers[1];
  if (!(sum > 0)) {
    return fail(ErrorCode::kInvalidArgument,
                "ratio {}: it asks for neither heavy nor light tasks; one of the two must be above "
                "0",
                text);
  }
  return numbers[0] / sum;
}

void shuffle(std::vector<Task>& tasks, std::mt19937_64& random) {
  for (std::size_t left = tasks.size(); left > 1; --left) {
    const auto chosen = static_cast<std::size_t>(draw_share(random) * static_cast<double>(left));
    std::swap(tasks[left - 1], tasks[chosen]);
  }
}

Expected<TaskSet> make_mix(const MixOptions& options) {
  if (options.tasks < 1) {
    return fail(ErrorCode::kInvalidArgument, "no tasks: at least 1 is needed");
  }
  if (options.tasks > kMostTasks) {
    return fail(ErrorCode::kInvalidArgument, "{} tasks: at most {} are possible", options.tasks,
                kMostTasks);
  }
  const auto heavy = static_cast<std::size_t>(
      std::llround(options.heavy_share * static_cast<double>(options.tasks)));
  TaskSet set;
  for (std::size_t i = 0; i < options.tasks; ++i) {
    set.tasks.push_back({.model = set.index_of(i < heavy ? options.heavy : options.light)});
  }
  std::mt19937_64 random(options.seed);
  shuffle(set.tasks, random);
  const auto times = arrival_times(options.arrivals, options.tasks, random);
  for (std::size_t i = 0; i < options.tasks; ++i) {
    set.tasks[i].arrival = times[i];
    if (options.deadline) {
      set.tasks[i].deadline = times[i] + std::min<Nanoseconds>(*options.deadline, kFarDeadline);
    }
  }
  PARETO_TRY(check_arrivals(set));
  return set;
}

}  // namespace pareto::tasks
