#include "client/flags/task_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <ostream>

#include "client/flags/inputs.h"
#include "client/flags/known_names.h"
#include "client/flags/model_flags.h"
#include "client/flags/runner_flags.h"
#include "coordinator/cluster/transport_choice.h"
#include "core/base/cores.h"
#include "core/base/counted.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "partitioner/model/zoo/model_builder.h"
#include "partitioner/planning/tasks/admission.h"
#include "partitioner/planning/tasks/cost_metric.h"
#include "partitioner/planning/tasks/task_file.h"
#include "partitioner/planning/tasks/task_schedule.h"

namespace pareto::client {
namespace {

constexpr int kMostWorkers = 64;
constexpr int kMostStages = 16;
constexpr int kMostRounds = 1000;

/// Checks that a model is built in or a file that is there.
Expected<> check_model_name(const std::string& name) {
  if (model::zoo::is_model_file(name)) {
    std::error_code error;
    if (std::filesystem::exists(name, error)) return {};
    return fail(ErrorCode::kNotFound, "there is no file {}", name);
  }
  const std::vector<std::string> names = model_names();
  if (std::ranges::find(names, name) != names.end()) return {};
  return fail(ErrorCode::kNotFound, "unknown model \"{}\"{}; paretoctl models lists them", name,
              did_you_mean(name, names));
}

Expected<> check_range(const char* flag, int value, int least, int most) {
  if (value >= least && value <= most) return {};
  return fail(ErrorCode::kInvalidArgument, "{} {}: {} to {} are possible", flag, value, least,
              most);
}

/// Returns "name (about)" of each plug.
template <typename Plug>
std::vector<std::string> with_about(const std::vector<Plug>& plugs) {
  std::vector<std::string> texts;
  for (const Plug& plug : plugs) texts.push_back(fmt::format("{} ({})", plug.name, plug.about));
  return texts;
}

}  // namespace

void TaskFlags::add_to(CLI::App& app) {
  const Heading heading(app, "Tasks");
  set_value(app.add_option(
                "--file", file,
                "YAML file of tasks, in place of a mix; partitioner/planning/tasks/FORMAT.md has "
                "all its keys"),
            "FILE");
  const std::vector<CLI::Option*> of_mix{
      set_value(app.add_option("--tasks", count, "number of tasks of the mix"), "N")
          ->capture_default_str(),
      set_value(app.add_option("--ratio", ratio, "heavy to light tasks of the mix"), "H:L")
          ->capture_default_str(),
      set_value(app.add_option("--heavy", heavy, "model of heavy tasks"), "NAME|FILE",
                model_names())
          ->capture_default_str(),
      set_value(app.add_option("--light", light, "model of light tasks"), "NAME|FILE",
                model_names())
          ->capture_default_str(),
      set_value(app.add_option("--batch", batch, "samples of a task"), "N")->capture_default_str(),
      set_value(app.add_option("--input-shape", input_shape,
                               "shape of an input of both models without the batch, as 3x64x64"),
                "SHAPE"),
      set_value(
          app.add_option("--arrivals", arrivals,
                         "arrival of tasks: together, poisson:RATE (as poisson:20/s), trace:FILE"),
          "HOW", {"together", "poisson:", "trace:"})
          ->capture_default_str(),
      set_value(app.add_option("--deadline", deadline,
                               "time from its arrival in which a task should be done, as 200ms"),
                "TIME"),
      set_value(
          app.add_option("--seed", seed, "seed of the order of the mix, and of random arrivals"),
          "N")
          ->capture_default_str()};
  // A file says all that.
  for (CLI::Option* const option : of_mix) app.get_option("--file")->excludes(option);
}

Expected<tasks::MixOptions> TaskFlags::mix() const {
  tasks::MixOptions options;
  PARETO_TRY(with_context(check_model_name(heavy), "--heavy"));
  PARETO_TRY(with_context(check_model_name(light), "--light"));
  if (batch < 1 || batch > 4096) {
    return fail(ErrorCode::kInvalidArgument, "--batch {}: 1 to 4096 are possible", batch);
  }
  options.heavy = {.model = heavy, .batch = batch, .input_shape = input_shape};
  options.light = {.model = light, .batch = batch, .input_shape = input_shape};
  if (count < 1) return fail(ErrorCode::kInvalidArgument, "--tasks {}: no tasks", count);
  options.tasks = static_cast<std::size_t>(count);
  PARETO_ASSIGN(options.heavy_share, with_context(tasks::parse_ratio(ratio), "--ratio"));
  options.seed = seed;
  PARETO_ASSIGN(options.arrivals, with_context(tasks::parse_arrivals(arrivals, ""), "--arrivals"));
  if (!deadline.empty()) {
    PARETO_ASSIGN(options.deadline, with_context(parse_duration(deadline), "--deadline"));
    if (options.deadline->count() <= 0) {
      return fail(ErrorCode::kInvalidArgument,
                  "--deadline {}: it is in the past when a task comes; it counts from the task's "
                  "arrival",
                  deadline);
    }
  }
  return options;
}

Expected<tasks::TaskSet> TaskFlags::read() const {
  if (!file.empty()) {
    return with_context(tasks::read_tasks(file, check_model_name), "--file");
  }
  PARETO_ASSIGN(const tasks::MixOptions options, mix());
  return with_context(tasks::make_mix(options), "--tasks");
}

void TaskRunFlags::add_to(CLI::App& app) {
  devices.add_to(app, DeviceNeed::kMeasures, "the tasks run in this process");
  {
    const Heading heading(app, "Devices");
    set_value(app.add_option("--transport", transport,
                             "transport of the values to devices and back: tcp, grpc or shm; auto: "
                             "shm to a device of this machine and user, else tcp"),
              "NAME", transport_names())
        ->capture_default_str();
  }
  {
    const Heading heading(app, "Schedule");
    set_value(app.add_option("--workers", workers,
                             "threads that run tasks; with devices: workers of each (default: as "
                             "many as cores may be used). More than a device has cores let values "
                             "travel while others are computed"),
              "N");
    set_value(app.add_option("--schedule", schedule,
                             "assignment of tasks to workers: " +
                                 join(with_about(tasks::builtin_task_schedules())) +
                                 "; auto: priority if tasks differ in it, else the one that is "
                                 "predicted to miss the fewest deadlines, then to end first"),
              "NAME", tasks::task_schedule_names())
        ->capture_default_str();
    set_value(app.add_option(
                  "--admission", admission,
                  "rule by which tasks are run: " + join(with_about(tasks::admission_rules()))),
              "RULE", tasks::admission_rule_names())
        ->capture_default_str();
    set_value(app.add_option("--stages", stages,
                             "most stages of a task (default: as many as workers, or as devices); "
                             "1: tasks stay whole"),
              "K");
    set_value(app.add_option("--split", split,
                             "tasks to split: auto (those that are predicted to gain by "
                             "it), never, always"),
              "WHICH", {"auto", "never", "always"})
        ->capture_default_str();
    set_value(app.add_option("--metric", metric,
                             "quantity that stages of a model have in equal parts: " +
                                 join(with_about(tasks::builtin_cost_quantities())) +
                                 ", or an expression of them, as \"bytes/flops\""),
              "METRIC", tasks::cost_quantity_names())
        ->capture_default_str();
  }
  {
    const Heading heading(app, "Computing");
    set_value(app.add_option("--engine", engine,
                             "engine that runs a stage; auto: of each model the fastest on one "
                             "thread"),
              "NAME", engine_choices())
        ->capture_default_str();
  }
  const Heading heading(app, "Measuring");
  std::vector<std::string> names{"all", "none"};
  for (const tasks::Baseline& one : tasks::baselines()) names.push_back(one.name);
  set_value(app.add_option("--baseline", baseline,
                           "runs to compare with: sequential (with one thread, and with "
                           "all), async, queue, device (all on one device, each in turn), all, "
                           "none; async is of this process, device of several"),
            "LIST", names)
      ->capture_default_str();
  set_value(app.add_option("--rounds", rounds,
                           "rounds in which the schedule and the baselines take turns"),
            "N")
      ->capture_default_str();
  timeout.add_to(app);
}

Expected<tasks::BenchOptions> TaskRunFlags::bench_options(const Context& context) const {
  tasks::BenchOptions options;
  const int cores = std::max(1, static_cast<int>(usable_cores().size()));
  const int count = workers.value_or(std::min(cores, kMostWorkers));
  PARETO_TRY(check_range("--workers", count, 1, kMostWorkers));
  if (count > cores && !on_devices()) {
    context.err << fmt::format("{} share {}: they will wait for one another\n",
                               counted(count, "worker"), counted(cores, "core"));
  }
  options.workers = on_devices() && !workers ? 0 : static_cast<std::size_t>(count);
  PARETO_ASSIGN(const auto transports,
                with_context(cluster::parse_transport_mix(transport), "--transport {}", transport));
  if (transports.size() != 1) {
    return fail(ErrorCode::kInvalidArgument, "--transport {}: name one", transport);
  }
  options.links.transport = transport;
  PARETO_ASSIGN(options.links.timeout, timeout.read());
  if (stages) PARETO_TRY(check_range("--stages", *stages, 1, kMostStages));
  options.stages = static_cast<std::size_t>(stages.value_or(split == "never" ? 1 : 0));
  PARETO_TRY(with_context(tasks::CostMetric::parse(metric), "--metric"));
  options.metric = metric;
  RunnerFlags runner;
  runner.engine = engine;
  PARETO_ASSIGN(const plan::StageSettings settings, runner.settings());
  options.engine = settings.engine;
  options.all_threads = cores;
  return options;
}

Expected<tasks::ContestOptions> TaskRunFlags::contest_options() const {
  tasks::ContestOptions options;
  if (schedule != tasks::kAutoTaskSchedule) {
    PARETO_TRY(with_context(tasks::find_task_schedule(schedule), "--schedule"));
  }
  options.schedule = schedule;
  PARETO_TRY(with_context(tasks::find_admission_rule(admission), "--admission"));
  options.admission = admission;
  if (split == "never") {
    options.splitting = tasks::Splitting::kNever;
  } else if (split == "always") {
    options.splitting = tasks::Splitting::kAlways;
  } else if (split != "auto") {
    return fail(ErrorCode::kInvalidArgument, "--split {}: there are auto, never and always", split);
  }
  PARETO_TRY(check_range("--rounds", rounds, 1, kMostRounds));
  options.rounds = rounds;
  std::vector<std::string> names;
  for (const tasks::Baseline& one : tasks::baselines()) names.push_back(one.name);
  for (const std::string& word : split_list(baseline)) {
    if (word == "none") continue;
    if ((word == "async" || word == "sequential-all") && on_devices()) {
      return fail(
          ErrorCode::kInvalidArgument,
          "--baseline {} is of threads of this process: of devices there are sequential, queue, "
          "device",
          word);
    }
    if (word == tasks::kOneDevice && !on_devices()) {
      return fail(ErrorCode::kInvalidArgument,
                  "--baseline device: no devices are named (--devices, --testbed)");
    }
    if (word == "all") {
      options.baselines = names;
    } else if (word == "sequential") {
      options.baselines.insert(options.baselines.end(), {"sequential", "sequential-all"});
    } else if (std::ranges::find(names, word) != names.end()) {
      options.baselines.push_back(word);
    } else {
      return fail(ErrorCode::kInvalidArgument, "--baseline {}: no such baseline{}; there are {}",
                  word, did_you_mean(word, names), join(names) + ", all, none");
    }
  }
  // In their order, each once.
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::find(options.baselines, name) == options.baselines.end();
  });
  options.baselines = names;
  return options;
}

Expected<std::vector<model::Model>> open_models(Context& context,
                                                const std::vector<tasks::TaskModel>& models) {
  std::vector<model::Model> opened;
  for (const tasks::TaskModel& one : models) {
    ModelFlags flags;
    flags.model = one.model;
    flags.input_shape = one.input_shape;
    flags.inputs = one.inputs;
    flags.weights = one.weights;
    PARETO_ASSIGN(model::Model model,
                  with_context(flags.open(context, {one.batch}), "{}", one.title()));
    PARETO_TRY(batches_for(context, model, {one.batch}));
    opened.push_back(std::move(model));
  }
  return opened;
}

}  // namespace pareto::client
