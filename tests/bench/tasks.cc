// Many models at once on two workers: what it gains, and how near predictions come.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <string>

#include "coordinator/tasks/task_report.h"
#include "partitioner/model/zoo/model_builder.h"
#include "partitioner/planning/tasks/task_mix.h"
#include "tests/bench/benches.h"

namespace pareto::bench {
namespace {

using tasks::TaskReport;

constexpr std::size_t kTaskWorkers = 2;

/// Both models of a mix, loaded once.
class LoadedMix {
 public:
  static Expected<LoadedMix> open(const std::string& engine) {
    LoadedMix loaded;
    loaded.models_ = {loaded.mix_.heavy, loaded.mix_.light};
    std::vector<model::Model> models;
    for (const tasks::TaskModel& one : loaded.models_) {
      PARETO_ASSIGN(model::Model opened, model::zoo::open_model(one.model, {}));
      models.push_back(std::move(opened));
    }
    const tasks::BenchOptions options{.workers = kTaskWorkers,
                                      .stages = kTaskWorkers,
                                      .engine = engine,
                                      .all_threads = kTaskWorkers};
    PARETO_ASSIGN(loaded.bench_, tasks::TaskBench::open(std::move(models), loaded.models_, options,
                                                        loaded.never()));
    return loaded;
  }

  /// Measures a mix. Tasks come together if nothing else is set in `options_of`.
  Expected<TaskReport> measure(std::size_t count, double heavy_share, std::uint64_t seed,
                               const tasks::ContestOptions& contest) {
    tasks::MixOptions mix = mix_;
    mix.tasks = count;
    mix.heavy_share = heavy_share;
    mix.seed = seed;
    PARETO_ASSIGN(tasks::TaskSet set, tasks::make_mix(mix));
    return measure(numbered(set), contest);
  }
  Expected<TaskReport> measure(const tasks::TaskSet& set, const tasks::ContestOptions& contest) {
    return tasks::run_contest(*bench_, set, contest, never(), [](int, const std::string&) {});
  }
  const std::vector<tasks::TaskModel>& models() const { return models_; }

 private:
  LoadedMix() = default;
  static const std::atomic<bool>& never() {
    static const std::atomic<bool> kNever{false};
    return kNever;
  }
  /// Returns the tasks with the numbers that the models have here.
  tasks::TaskSet numbered(const tasks::TaskSet& set) const {
    tasks::TaskSet all{.models = models_, .tasks = set.tasks};
    for (tasks::Task& task : all.tasks) task.model = all.index_of(set.models[task.model]);
    return all;
  }

  tasks::MixOptions mix_;
  std::vector<tasks::TaskModel> models_;
  std::unique_ptr<tasks::TaskBench> bench_;
};

std::string makespans_text(const TaskReport& report) {
  std::string text;
  for (const tasks::Contestant& one : report.contestants) {
    text += fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ", one.name,
                        to_milliseconds(one.makespan));
  }
  return fmt::format("{} ms, {} split, {:+.1f} % predicted", text, report.schedule().plan.splits(),
                     100 * report.prediction_error());
}

double ratio_to(const TaskReport& report, const std::string& name) {
  const auto found = std::ranges::find(report.contestants, name, &tasks::Contestant::name);
  return to_nanoseconds(report.schedule().makespan) / to_nanoseconds(found->makespan);
}

}  // namespace

Expected<std::vector<Row>> tasks_gain(const std::string& name, std::size_t count,
                                      double heavy_share) {
  PARETO_ASSIGN(LoadedMix loaded, LoadedMix::open("auto"));
  PARETO_ASSIGN(
      const TaskReport report,
      loaded.measure(count, heavy_share, 1,
                     {.baselines = {"sequential", "sequential-all", "async"}, .rounds = 7}));
  const std::string mix = name.substr(name.find('/'));
  const std::string detail = makespans_text(report);
  return std::vector<Row>{
      {"makespan_over_sequential1" + mix, ratio_to(report, "sequential"), 0.55, false, detail},
      {"makespan_over_sequential_all" + mix, ratio_to(report, "sequential-all"), 0.95, false,
       detail},
      {"makespan_over_async" + mix, ratio_to(report, "async"), 0.95, false, detail}};
}

Expected<std::vector<Row>> tasks_mixes(const std::string& name) {
  struct Mix {
    std::size_t count;
    double heavy_share;
  };
  constexpr Mix kMixes[] = {{4, 0.5}, {5, 0.6},  {7, 0.4},  {9, 0.3},  {11, 0.1},
                            {6, 0.9}, {16, 0.2}, {20, 0.7}, {30, 0.8}, {40, 0.3}};
  PARETO_ASSIGN(LoadedMix loaded, LoadedMix::open("auto"));
  std::vector<Row> rows;
  std::vector<double> errors;
  double split_sum = 0;
  int splits = 0;
  std::uint64_t seed = 1;
  for (const Mix& mix : kMixes) {
    PARETO_ASSIGN(const TaskReport report, loaded.measure(mix.count, mix.heavy_share, seed++,
                                                          {.baselines = {"queue"}, .rounds = 7}));
    const double ratio = ratio_to(report, "queue");
    rows.push_back({fmt::format("{}/{}x{:.1f}", name, mix.count, mix.heavy_share), ratio, 1.02,
                    false, makespans_text(report)});
    errors.push_back(std::abs(report.prediction_error()));
    if (report.schedule().plan.splits() == 0) continue;
    split_sum += ratio;
    ++splits;
  }
  if (splits > 0) {
    rows.push_back({name + "_split", split_sum / splits, 0.95, false,
                    fmt::format("mean of {} mixes in which tasks were split", splits)});
  }
  std::ranges::sort(errors);
  const double median = (errors[errors.size() / 2] + errors[(errors.size() - 1) / 2]) / 2;
  rows.push_back({"prediction_error/median", median, 0.05, false, "of the ten mixes' makespans"});
  rows.push_back({"prediction_error/most", errors.back(), 0.10, false, "of the same"});
  return rows;
}

Expected<std::vector<Row>> tasks_deadlines(const std::string& name) {
  PARETO_ASSIGN(LoadedMix loaded, LoadedMix::open("auto"));
  // A load of heavy tasks that are there at once, and light ones that come while it lasts.
  PARETO_ASSIGN(const TaskReport load,
                loaded.measure(1, 1, 1, {.baselines = {"queue"}, .rounds = 3}));
  const Nanoseconds heavy = load.costs.front().whole.time;
  tasks::TaskSet set{.models = loaded.models(), .tasks = {}};
  constexpr std::size_t kHeavy = 12;
  constexpr int kLight = 10;
  for (std::size_t i = 0; i < kHeavy; ++i) set.tasks.push_back({.model = 0});
  for (int i = 0; i < kLight; ++i) {
    const Nanoseconds arrival = heavy * (i + 1) / 3;
    set.tasks.push_back({.model = 1, .arrival = arrival, .deadline = arrival + 2 * heavy});
  }
  PARETO_ASSIGN(const TaskReport report,
                loaded.measure(set, {.baselines = {"queue"}, .rounds = 5, .schedule = "deadline"}));
  const auto missed = [&](std::size_t i) {
    return static_cast<double>(report.contestants[i].figures.misses);
  };
  return std::vector<Row>{
      {name, missed(0) / std::max(1.0, missed(1)), 0.1, false,
       fmt::format("{} of {} missed by deadline, {} by the queue", missed(0), kLight, missed(1))}};
}

Expected<std::vector<Row>> tasks_mismatches(const std::string& name) {
  PARETO_ASSIGN(LoadedMix loaded, LoadedMix::open("plain"));
  std::size_t mismatches = 0;
  std::size_t compared = 0;
  for (const std::string& schedule : tasks::task_schedule_names()) {
    PARETO_ASSIGN(const TaskReport report,
                  loaded.measure(6, 0.5, 1,
                                 {.baselines = {},
                                  .rounds = 1,
                                  .schedule = schedule,
                                  .splitting = tasks::Splitting::kAlways}));
    mismatches += report.schedule().mismatches;
    compared += 2 * report.set.tasks.size();
  }
  return std::vector<Row>{
      {name, static_cast<double>(mismatches), 0, false,
       fmt::format("of {} outputs, plain engine, each task in two stages", compared)}};
}

}  // namespace pareto::bench
