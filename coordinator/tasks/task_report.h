// What a run of tasks came to, next to what it was predicted to and to the baselines.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "coordinator/tasks/task_bench.h"
#include "partitioner/planning/tasks/plan_choice.h"
#include "partitioner/planning/tasks/task.h"
#include "partitioner/planning/tasks/task_baselines.h"
#include "partitioner/planning/tasks/task_timeline.h"

namespace pareto::tasks {

/// A way to run the tasks, measured over all rounds.
struct Contestant {
  std::string name{};   ///< name of its schedule, or of the baseline
  std::string about{};  ///< half a sentence
  TaskPlan plan{};
  std::vector<Nanoseconds> makespans{};  ///< one for each whole round
  Nanoseconds makespan{};                ///< their median
  Timeline timeline{};                   ///< of the run whose makespan is the median
  RunFigures figures{};                  ///< of that run
  bool partial = false;                  ///< no run was whole: `timeline` is what was done
  std::size_t mismatches = 0;            ///< outputs that are not those of the whole models
  double worst_error = 0;                ///< relative to the largest output
};

/// A device that was lost.
struct DeviceLoss {
  std::string device;
  int round = 0;      ///< from 1; 0: while all was warmed up
  std::string way{};  ///< name of the schedule or baseline that was being run
  std::string error{};
  std::size_t done = 0;  ///< tasks of that run that were done, by it and by the others
};

struct TaskReport {
  TaskSet set;                       ///< tasks that were admitted
  std::vector<Task> refused{};       ///< tasks that were not
  std::vector<std::string> devices;  ///< empty: threads of this machine
  std::size_t cores = 1;
  std::vector<PreparedModel> models;
  std::vector<ModelCosts> costs;
  RunFigures predicted;
  std::vector<Contestant> contestants;  ///< first the schedule, then the baselines
  int rounds = 0;                       ///< that were asked for
  bool stopped = false;                 ///< somebody stopped it before they were done
  /// Devices that were lost, which ended it: others ran what was left of the run in hand.
  std::vector<DeviceLoss> losses;

  const Contestant& schedule() const { return contestants.front(); }
  /// Returns how many times as fast the schedule is as a contestant; 0: not known.
  double speed_up_over(const Contestant& other) const;
  /// Returns the share by which the predicted makespan is off, above 0 where it is too long.
  double prediction_error() const;
};

/// The same number of tasks in several mixes.
struct SweepPoint {
  double heavy_share = 0;  ///< 0 to 1
  TaskReport report;
};
struct TaskSweep {
  std::vector<SweepPoint> points;
  bool stopped = false;  ///< not all mixes were run
};

struct ContestOptions {
  /// Names out of baselines(); those that do not fit are left out.
  std::vector<std::string> baselines{};
  int rounds = 5;
  std::string schedule{kAutoTaskSchedule};
  Splitting splitting = Splitting::kAuto;
  std::string admission = "all";  ///< name of a rule
};

/// Rehearses, admits tasks, chooses a plan, and runs it in turns with the baselines. A stop ends it
/// after the stages in hand, and a lost device after the run in hand. What was done by then is in
/// the report.
/// Fails: as TaskBench's members and choose_plan(); kInvalidArgument if no task is admitted.
Expected<TaskReport> run_contest(
    TaskBench& bench, const TaskSet& set, const ContestOptions& options,
    const std::atomic<bool>& stop,
    const std::function<void(int round, const std::string&)>& progress);

}  // namespace pareto::tasks
