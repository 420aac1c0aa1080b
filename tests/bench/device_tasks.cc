#include "tests/bench/device_tasks.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>

#include "coordinator/cluster/testbed_cluster.h"
#include "coordinator/tasks/task_report.h"
#include "core/base/file.h"
#include "partitioner/model/zoo/model_builder.h"
#include "partitioner/planning/tasks/task_mix.h"
#include "tests/bench/emulated_daemons.h"

namespace pareto::bench {
namespace {

constexpr const char* kDeviceBed = R"(network: ethernet.yaml
devices:
  - {name: pi, preset: pi5}
  - {name: server, preset: server}
)";
constexpr const char* kDeviceLink = "delay: 50us\nrate: 1gbit\n";

Expected<nlohmann::json> measure_device_tasks() {
  PARETO_ASSIGN(const auto folder, TemporaryFolder::create("pareto-bench"));
  const std::filesystem::path bed = folder.path() / "bed.yaml";
  PARETO_TRY(write_file_atomically(bed, kDeviceBed));
  PARETO_TRY(write_file_atomically(folder.path() / "ethernet.yaml", kDeviceLink));
  PARETO_ASSIGN(const auto chosen, cluster::find_testbed(bed.string()));
  PARETO_ASSIGN(auto cluster, cluster::open_testbed(
                                  chosen, {}, std::filesystem::path(PARETO_BIN_DIR) / "paretod"));
  const tasks::MixOptions mix{.tasks = 12};
  PARETO_ASSIGN(const tasks::TaskSet set, tasks::make_mix(mix));
  std::vector<model::Model> models;
  for (const tasks::TaskModel& one : set.models) {
    PARETO_ASSIGN(model::Model opened, model::zoo::open_model(one.model, {}));
    models.push_back(std::move(opened));
  }
  const std::atomic<bool> never{false};
  tasks::BenchOptions options;
  options.workers = 0;
  options.devices = &cluster;
  PARETO_ASSIGN(const auto bench,
                tasks::TaskBench::open(std::move(models), set.models, options, never));
  tasks::ContestOptions contest;
  contest.baselines = {tasks::kOneDevice};
  contest.rounds = 5;
  PARETO_ASSIGN(const tasks::TaskReport report,
                tasks::run_contest(*bench, set, contest, never, [](int, const std::string&) {}));
  nlohmann::json measured;
  for (const tasks::Contestant& one : report.contestants) {
    measured["ways"].push_back({{"name", one.name}, {"ms", to_milliseconds(one.makespan)}});
  }
  measured["predicted"] = to_milliseconds(report.predicted.makespan);
  measured["about"] = report.schedule().about;
  return measured;
}

}  // namespace

Expected<std::vector<Row>> device_tasks(const std::string& name) {
  PARETO_ASSIGN(const auto measured, measure_apart("device-tasks", {}));
  const auto& ways = measured["ways"];
  double best = 0;
  std::string detail;
  for (const auto& way : ways) {
    const auto ms = way["ms"].get<double>();
    detail +=
        fmt::format("{}{} {:.1f}", detail.empty() ? "" : ", ", way["name"].get<std::string>(), ms);
    if (&way != &ways.front() && (best == 0 || ms < best)) best = ms;
  }
  return std::vector<Row>{
      {name, ways.front()["ms"].get<double>() / best, 0.9, false,
       fmt::format("{} ms, {:.1f} predicted; {}", detail, measured["predicted"].get<double>(),
                   measured["about"].get<std::string>())}};
}

int run_device_tasks(int argc, char** argv) {
  CLI::App app("tasks over the devices of a test bed");
  int ready_fd = -1;
  app.add_option("--ready-fd", ready_fd)->required();
  CLI11_PARSE(app, argc, argv);
  return answer_apart(ready_fd, measure_device_tasks);
}

}  // namespace pareto::bench
