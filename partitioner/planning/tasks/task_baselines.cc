#include "partitioner/planning/tasks/task_baselines.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace pareto::tasks {
namespace {

constexpr std::string_view kOnly = "only ";

/// Returns the time that one worker of a device takes for all tasks.
Nanoseconds time_of_all(const PlanRequest& request, std::size_t device) {
  Nanoseconds sum{};
  for (const Task& task : request.set.tasks) {
    const StageCost& whole = request.models[task.model].whole;
    sum += whole.on_device.empty() ? whole.time : whole.on_device[device];
  }
  return sum;
}

std::size_t fastest_device(const PlanRequest& request, std::size_t devices) {
  std::size_t fastest = 0;
  for (std::size_t device = 1; device < devices; ++device) {
    if (time_of_all(request, device) < time_of_all(request, fastest)) fastest = device;
  }
  return fastest;
}

/// Returns the plan in which only those workers take tasks, whole and as they come.
Expected<TaskPlan> queue_of_some(const PlanRequest& request, const std::vector<bool>& takes) {
  const std::vector<bool> whole(request.set.tasks.size(), false);
  Problem problem = make_problem(request, whole);
  Assignment assignment = assign_queue(problem);
  assignment.queues.emplace_back();  // of all others: nothing
  for (const bool takes_some : takes) assignment.queue_of.push_back(takes_some ? 0 : 1);
  return plan_with(std::move(problem), "queue", whole, std::move(assignment));
}

}  // namespace

const std::vector<Baseline>& baselines() {
  static const std::vector<Baseline> kBaselines{
      {"sequential", "one task after the other, on one thread"},
      {"sequential-all", "one task after the other, each with all threads"},
      {"async", "whole tasks as they come, on as many threads that no core is kept for"},
      {"queue", "whole tasks as they come, on as many threads, each with a core"},
      {kOneDevice, "whole tasks as they come, all on one device: each device in turn"},
  };
  return kBaselines;
}

std::vector<Baseline> baselines_on(const std::vector<std::string>& devices,
                                   const std::vector<std::string>& names) {
  std::vector<Baseline> all;
  for (const std::string& name : names) {
    if (devices.empty()) {
      const auto found = std::ranges::find(baselines(), name, &Baseline::name);
      if (name != kOneDevice && found != baselines().end()) all.push_back(*found);
    } else if (name == "sequential") {
      all.push_back({name, "one task after the other, on the fastest device"});
    } else if (name == "queue") {
      all.push_back({name, "whole tasks as they come, on all workers"});
    } else if (name == kOneDevice) {
      for (const std::string& device : devices) {
        all.push_back({std::string(kOnly) + device, "whole tasks as they come, all on " + device});
      }
    }
  }
  return all;
}

Expected<TaskPlan> baseline_plan(const std::string& name, const PlanRequest& request,
                                 const std::vector<std::string>& devices) {
  if (devices.empty()) {
    PlanRequest own = request;
    if (name.starts_with("sequential")) own.workers.resize(1);
    return plan_by(own, "queue", std::vector<bool>(request.set.tasks.size(), false));
  }
  const std::vector<WorkerFacts>& workers = request.workers;
  std::vector<bool> takes(workers.size(), true);
  if (name.starts_with(kOnly)) {
    const auto device = std::ranges::find(devices, name.substr(kOnly.size())) - devices.begin();
    for (std::size_t i = 0; i < workers.size(); ++i) {
      takes[i] = std::cmp_equal(workers[i].device, device);
    }
  } else if (name == "sequential") {
    const std::size_t fastest = fastest_device(request, devices.size());
    const auto first = std::ranges::find(workers, fastest, &WorkerFacts::device);
    takes.assign(workers.size(), false);
    takes[static_cast<std::size_t>(first - workers.begin())] = true;
  }
  return queue_of_some(request, takes);
}

}  // namespace pareto::tasks
