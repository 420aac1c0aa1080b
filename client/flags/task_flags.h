// The flags of `tasks`: which tasks, on which workers, and how they are measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/command.h"
#include "client/flags/device_flags.h"
#include "client/flags/time_flags.h"
#include "coordinator/tasks/task_bench.h"
#include "coordinator/tasks/task_report.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/planning/tasks/task_mix.h"

namespace pareto::client {

/// The tasks that are run: a file, or a mix of a heavy model and a light one.
struct TaskFlags {
  std::string file;
  std::int64_t count = 10;
  std::string ratio = "1:1";
  std::string heavy = "resnet50";
  std::string light = "squeezenet1_0";
  std::int64_t batch = 1;
  std::string input_shape;
  std::string arrivals = "together";
  std::string deadline;
  std::uint64_t seed = 1;

  void add_to(CLI::App& app);
  /// Reads the flags of a mix. Fails: kInvalidArgument and kNotFound naming the flag.
  Expected<tasks::MixOptions> mix() const;
  /// Makes the tasks, of the file if there is one. Fails: as mix() and read_tasks().
  Expected<tasks::TaskSet> read() const;
};

/// Workers, schedule, and rounds.
struct TaskRunFlags {
  std::optional<int> workers;
  std::string schedule{tasks::kAutoTaskSchedule};
  std::string metric = "time";
  std::optional<int> stages;
  std::string split = "auto";
  std::string baseline = "all";
  int rounds = 5;
  std::string engine = "auto";
  DeviceFlags devices;
  std::string transport = "tcp";
  TimeoutFlag timeout;
  std::string admission = "all";

  void add_to(CLI::App& app);
  /// Returns whether devices are named: else the tasks run in this process.
  bool on_devices() const { return !devices.inventory.empty() || !devices.testbed.empty(); }
  /// Reads them. More workers than cores are allowed, and told of.
  /// Fails: kInvalidArgument and kNotFound naming the flag.
  Expected<tasks::BenchOptions> bench_options(const Context& context) const;
  Expected<tasks::ContestOptions> contest_options() const;
};

/// Opens the models of tasks. Says on stderr what is remarkable. Fails: as ModelFlags::open().
Expected<std::vector<model::Model>> open_models(Context& context,
                                                const std::vector<tasks::TaskModel>& models);

}  // namespace pareto::client
