#include "coordinator/tasks/task_bench.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <system_error>
#include <utility>

#include "coordinator/cluster/daemon_client.h"
#include "core/base/cpu_quota.h"
#include "core/base/machine.h"
#include "core/base/text.h"
#include "partitioner/model/emit/emit.h"

namespace pareto::tasks {
namespace {

/// Different inputs of a model, which its tasks take in turns.
constexpr std::uint64_t kExamples = 2;
constexpr int kProfileRepeats = 3;
/// The most stages of a task if nobody says how many, and the most workers of a device.
constexpr std::size_t kMostStages = 16;
constexpr int kMostCores = 64;
/// Times that a model is cut again, once its stages were timed.
constexpr int kMostRecuts = 2;
/// The error of an output against another engine's, or against a cut inside what an engine fuses.
constexpr double kMostError = 1e-3;

tl::unexpected<Error> stopped() {
  return fail(ErrorCode::kClosed, "stopped before the tasks were run");
}

/// Runs a stage a few times, replaces its inputs by its outputs, and returns the shortest time.
Expected<Nanoseconds> time_of(Worker& worker, StageId stage, std::vector<Value>& values) {
  constexpr int kRuns = 4;
  const SteadyClock clock;
  std::vector<Value> outputs;
  Nanoseconds best = Nanoseconds::max();
  for (int run = 0; run < kRuns; ++run) {
    const TimePoint begin = clock.now();
    PARETO_ASSIGN(outputs, worker.run(stage, values));
    best = std::min<Nanoseconds>(best, clock.now() - begin);
  }
  values = std::move(outputs);
  return best;
}

/// Returns the layers with times that add up to what the engine took for each stage. The plain
/// engine, which layers are timed in, may be slower in one part of a model than in another.
std::vector<LayerCost> scaled(std::vector<LayerCost> layers, const std::vector<StageRange>& ranges,
                              const std::vector<Nanoseconds>& times) {
  for (std::size_t stage = 0; stage < ranges.size(); ++stage) {
    const std::span part(layers.begin() + ranges[stage].begin, layers.begin() + ranges[stage].end);
    double sum = 0;
    for (const LayerCost& layer : part) sum += to_nanoseconds(layer.time);
    if (sum <= 0) continue;
    for (LayerCost& layer : part) {
      layer.time =
          from_nanoseconds(to_nanoseconds(layer.time) * to_nanoseconds(times[stage]) / sum);
    }
  }
  return layers;
}

Tuple tuple_of(const std::vector<Value>& values) { return Tuple{values}; }

/// Returns how many threads a device may compute on at once, as far as a bench uses them.
std::size_t usable_cores_of(const cluster::DaemonClient& device) {
  const cluster::DeviceInfo& info = device.info();
  int cores = useful_threads(info.cores, info.cpu_quota);
  if (info.limit_cores > 0) cores = std::min(cores, info.limit_cores);
  return static_cast<std::size_t>(std::clamp(cores, 1, kMostCores));
}

std::vector<std::string> distinct(const std::vector<std::string>& texts) {
  std::vector<std::string> some;
  for (const std::string& text : texts) {
    if (std::ranges::find(some, text) == some.end()) some.push_back(text);
  }
  return some;
}

}  // namespace

TaskBench::TaskBench(std::vector<model::Model> models, std::vector<TaskModel> names,
                     BenchOptions options)
    : models_(std::move(models)), names_(std::move(names)), options_(std::move(options)) {
  add_workers();
  if (options_.stages == 0) {
    options_.stages = std::min(devices_.empty() ? workers_.size() : devices_.size(), kMostStages);
  }
  if (!options_.devices) pinned_.emplace(workers_.size(), WorkerCrew::Cores::kPinned);
  free_.emplace(workers_.size(), WorkerCrew::Cores::kAny);
}

void TaskBench::add_workers() {
  if (!options_.devices) {
    for (std::size_t i = 0; i < options_.workers; ++i) workers_.push_back(make_in_process_worker());
    facts_.resize(options_.workers);
    all_threads_.push_back(make_in_process_worker());
    return;
  }
  cluster::Cluster& cluster = *options_.devices;
  for (std::size_t device = 0; device < cluster.size(); ++device) {
    const cluster::DaemonClient& client = cluster.device(device);
    const std::string& name = devices_.emplace_back(client.config().name);
    if (client.info().cpu != describe_machine().cpu) other_processors_ = true;
    const std::size_t cores = usable_cores_of(client);
    const std::size_t count = options_.workers > 0 ? options_.workers : cores;
    std::ranges::move(make_device_workers(cluster, transports_, name, count, cores, options_.links),
                      std::back_inserter(workers_));
    for (std::size_t i = 0; i < count; ++i) {
      facts_.push_back({device, count > 1 ? fmt::format("{} {}", name, i + 1) : name});
    }
  }
}

Expected<std::unique_ptr<TaskBench>> TaskBench::open(std::vector<model::Model> models,
                                                     const std::vector<TaskModel>& names,
                                                     const BenchOptions& options,
                                                     const std::atomic<bool>& stop) {
  std::unique_ptr<TaskBench> bench;
  try {
    // The constructor is private.
    bench.reset(new TaskBench(std::move(models), names, options));
  } catch (const std::system_error& error) {
    return fail(ErrorCode::kExhausted, "threads for the workers: {}", error.what());
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    PARETO_TRY(with_context(bench->prepare(i, stop), "{}", names[i].title()));
  }
  return bench;
}

Expected<std::string> TaskBench::load_stage(Worker& worker, StageId id, const plan::Shard& shard,
                                            const runtime::WeightSource& weights,
                                            runtime::RunnerOptions options) const {
  auto engine = worker.load(id, shard, weights, options);
  if (engine || options_.engine != "auto" || options.engine == "auto") return engine;
  options.engine = "auto";
  return worker.load(id, shard, weights, options);
}

Expected<> TaskBench::load_everywhere(StageId id, const plan::Shard& shard,
                                      const runtime::WeightSource& weights,
                                      runtime::RunnerOptions options,
                                      std::vector<std::string>& engines, std::size_t first) {
  for (std::size_t worker = first; worker < workers_.size(); ++worker) {
    std::string& engine = engines[facts_[worker].device];
    options.engine = engine;
    PARETO_ASSIGN(engine, load_stage(*workers_[worker], id, shard, weights, options));
  }
  return {};
}

Expected<> TaskBench::prepare(std::size_t index, const std::atomic<bool>& stop) {
  const model::Model& model = models_[index];
  const std::int64_t batch = names_[index].batch;
  const auto weights = [&model](const Digest& digest) { return model.weight(digest); };
  const std::int64_t operators = std::ssize(model.graph().operators);
  runtime::RunnerOptions options;
  options.engine = options_.engine;
  options.batch = batch;

  PreparedModel prepared{.title = names_[index].title()};
  if (options_.progress) options_.progress(fmt::format("loading {}", prepared.title));
  PARETO_ASSIGN(const plan::Shard whole, model::emit_shard(model, 0, operators));
  prepared.whole = next_id_++;
  std::vector<std::string> engines(device_count(), options_.engine);
  PARETO_TRY(load_everywhere(prepared.whole, whole, weights, options, engines));
  prepared.engine = join(distinct(engines));
  options.engine = engines.front();
  if (stop) return stopped();
  if (!all_threads_.empty()) {
    runtime::RunnerOptions shared = options;
    shared.threads = options_.all_threads;
    PARETO_TRY(all_threads_.front()->load(prepared.whole, whole, weights, shared));
  }
  if (stop) return stopped();

  PARETO_ASSIGN(const CostMetric metric, CostMetric::parse(options_.metric));
  {
    // The layers' times are those of the plain engine, whatever engine runs the tasks. What devices
    // compute is compared with this machine's.
    runtime::RunnerOptions plain = options;
    plain.engine = "plain";
    PARETO_ASSIGN(const auto runner, runtime::ShardRunner::load(whole, weights, plain));
    PARETO_ASSIGN(prepared.layers, layer_costs(model, batch, *runner, kProfileRepeats));
    PARETO_TRY(make_examples(index, [&](std::vector<Value> inputs) {
      return devices_.empty() ? workers_.front()->run(prepared.whole, std::move(inputs))
                              : runner->run(std::move(inputs));
    }));
  }
  PARETO_TRY(prepare_stages(model, metric, options, engines, stop, prepared));
  prepared_.push_back(std::move(prepared));
  return {};
}

Expected<> TaskBench::make_examples(std::size_t index, const RunWhole& run_whole) {
  std::vector<Example>& examples = examples_.emplace_back();
  for (std::uint64_t seed = 1; seed <= kExamples; ++seed) {
    Example& example = examples.emplace_back();
    PARETO_ASSIGN(example.inputs, models_[index].example_inputs(names_[index].batch, seed));
    PARETO_ASSIGN(example.outputs, run_whole(example.inputs));
  }
  return {};
}

Expected<> TaskBench::prepare_stages(const model::Model& model, const CostMetric& metric,
                                     const runtime::RunnerOptions& options,
                                     const std::vector<std::string>& engines,
                                     const std::atomic<bool>& stop, PreparedModel& prepared) {
  const std::int64_t batch = options.batch;
  const auto weights = [&model](const Digest& digest) { return model.weight(digest); };
  PARETO_ASSIGN(prepared.ranges, cut_into_stages(model, prepared.layers, metric, options_.stages));
  std::vector<plan::Shard> shards;
  for (int round = 0; prepared.ranges.size() > 1; ++round) {
    shards.clear();
    std::vector<Nanoseconds> times;
    PARETO_ASSIGN(std::vector<Value> values, model.example_inputs(batch, 1));
    for (const StageRange& range : prepared.ranges) {
      if (stop) return stopped();
      PARETO_ASSIGN(shards.emplace_back(), model::emit_shard(model, range.begin, range.end));
      prepared.stages.push_back(next_id_++);
      Worker& first = *workers_.front();
      PARETO_TRY(load_stage(first, prepared.stages.back(), shards.back(), weights, options));
      PARETO_ASSIGN(times.emplace_back(), time_of(first, prepared.stages.back(), values));
    }
    // Times of devices hold what values take to them and back, which no cut makes equal.
    if (round == kMostRecuts || !devices_.empty()) break;
    PARETO_ASSIGN(auto again,
                  cut_into_stages(model, scaled(prepared.layers, prepared.ranges, times), metric,
                                  options_.stages));
    if (again == prepared.ranges) break;
    for (const StageId id : prepared.stages) workers_.front()->unload(id);
    prepared.stages.clear();
    prepared.ranges = std::move(again);
  }
  for (std::size_t i = 0; i < prepared.stages.size(); ++i) {
    PARETO_ASSIGN(prepared.bytes.emplace_back(),
                  model::boundary_bytes(model.graph(), prepared.ranges[i].begin, batch));
    if (stop) return stopped();
    std::vector<std::string> own = engines;
    PARETO_TRY(load_everywhere(prepared.stages[i], shards[i], weights, options, own, 1));
  }
  return {};
}

const TaskBench::Example& TaskBench::example_of(const TaskSet& set, std::size_t task) const {
  return examples_[set.tasks[task].model][task % kExamples];
}

std::vector<TaskJob> TaskBench::jobs_of(const TaskSet& set, const std::vector<bool>& split) const {
  std::vector<TaskJob> jobs;
  for (std::size_t i = 0; i < set.tasks.size(); ++i) {
    const PreparedModel& model = prepared_[set.tasks[i].model];
    jobs.push_back(
        {split[i] ? model.stages : std::vector<StageId>{model.whole}, example_of(set, i).inputs});
  }
  return jobs;
}

Expected<ComparedRun> TaskBench::run_on(WorkerCrew& crew, const Workers& workers,
                                        const TaskPlan& plan, const TaskSet& set,
                                        const std::atomic<bool>& stop) {
  ComparedRun compared;
  PARETO_ASSIGN(compared.run, run_tasks(crew, workers, plan.problem, plan.assignment,
                                        jobs_of(set, plan.split), stop));
  for (std::size_t i = 0; i < set.tasks.size(); ++i) {
    const std::vector<Value>& outputs = compared.run.outputs[i];
    if (outputs.empty()) continue;
    const Tuple expected = tuple_of(example_of(set, i).outputs);
    const Tuple actual = tuple_of(outputs);
    if (bit_equal(expected, actual)) continue;
    // Threads that share a layer may sum in another order.
    const bool has_same_bits = prepared_[set.tasks[i].model].engine == "plain" &&
                               &workers == &workers_ && !other_processors_;
    const double error =
        std::max(relative_error(expected, actual), std::numeric_limits<double>::denorm_min());
    compared.worst_error = std::max(compared.worst_error, error);
    if (has_same_bits || !(error <= kMostError)) ++compared.mismatches;
  }
  compared.run.outputs.clear();
  return compared;
}

Expected<ComparedRun> TaskBench::run(const TaskPlan& plan, const TaskSet& set,
                                     const std::atomic<bool>& stop) {
  return run_on(pinned_ ? *pinned_ : *free_, workers_, plan, set, stop);
}

Expected<ComparedRun> TaskBench::run_baseline(const std::string& name, const TaskPlan& plan,
                                              const TaskSet& set, const std::atomic<bool>& stop) {
  // Threads of one request share its layers, and may not be kept to the core of the first.
  if (name == "sequential-all") return run_on(*free_, all_threads_, plan, set, stop);
  if (name == "async") return run_on(*free_, workers_, plan, set, stop);
  return run(plan, set, stop);
}

}  // namespace pareto::tasks
