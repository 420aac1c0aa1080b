#include <algorithm>
#include <map>
#include <string>

#include "runtime/schedules/schedule.h"
#include "tests/bench/benches.h"
#include "tests/bench/exported_model.h"
#include "tests/bench/interleaved.h"
#include "tests/bench/loaded_model.h"

namespace pareto::bench {
namespace {

using runtime::ShardRunner;

constexpr int kCores = 2;
constexpr auto kScheduleTime = std::chrono::seconds(4);

/// A whole model, opened once and loaded by several schedules.
class ScheduledModel {
 public:
  /// Opens a built-in model, or exports one. `input`: size of a sample as --input-shape takes it;
  /// empty: the model's own.
  static Expected<ScheduledModel> open(const std::string& name, std::int64_t batch,
                                       const std::string& input = "") {
    model::zoo::ModelOptions options;
    std::string source = name;
    std::string shape = input;
    const auto& builtin = model::zoo::builtin_models();
    if (std::ranges::none_of(builtin, [&](const auto& one) { return one->name() == name; })) {
      PARETO_ASSIGN(const ExportedModel files, exported_model(name));
      source = files.torchscript.string();
      if (shape.empty()) shape = "3x224x224";
    }
    if (!shape.empty()) {
      PARETO_ASSIGN(options.input, model::parse_input_shapes(shape));
    }
    PARETO_ASSIGN(auto model, model::zoo::open_model(source, options));
    ScheduledModel opened(std::move(model));
    PARETO_ASSIGN(opened.shard_, model::emit_shard(opened.model_, 0, operators_of(opened.model_)));
    PARETO_TRY(opened.set_batch(batch));
    return opened;
  }

  /// Sets the batch of inputs(), and of what is loaded from now on.
  Expected<> set_batch(std::int64_t batch) {
    batch_ = batch;
    PARETO_ASSIGN(inputs_, model_.example_inputs(batch, 1));
    return {};
  }

  /// Loads it; the engine is the one that is fastest on one thread.
  Expected<std::unique_ptr<ShardRunner>> load(const std::string& schedule, int threads) {
    runtime::RunnerOptions options;
    options.engine = engine_;
    options.schedule = schedule;
    options.threads = threads;
    options.batch = batch_;
    PARETO_ASSIGN(
        auto runner,
        ShardRunner::load(
            shard_, [&](const Digest& digest) { return model_.weight(digest); }, options));
    if (engine_ == "auto") engine_ = runner->report().engine;
    return runner;
  }
  std::int64_t batch() const { return batch_; }
  void use_engine(const std::string& name) { engine_ = name; }
  const std::vector<Value>& inputs() const { return inputs_; }
  const std::string& engine() const { return engine_; }

 private:
  explicit ScheduledModel(model::Model model) : model_(std::move(model)) {}

  model::Model model_;
  std::int64_t batch_ = 1;
  std::string engine_ = "auto";
  std::vector<Value> inputs_;
  plan::Shard shard_;
};

/// Returns the median time of each runner, in milliseconds.
Expected<std::vector<double>> times_of(const std::vector<ShardRunner*>& runners,
                                       const std::vector<Value>& inputs) {
  std::vector<std::function<Expected<>()>> contestants;
  for (ShardRunner* const runner : runners) {
    contestants.push_back([runner, &inputs]() -> Expected<> {
      PARETO_TRY(runner->run(inputs));
      return {};
    });
  }
  PARETO_ASSIGN(const auto medians, interleaved_medians(contestants, kScheduleTime, 15));
  std::vector<double> times;
  for (const Nanoseconds median : medians) times.push_back(to_milliseconds(median));
  return times;
}

/// The median times of a model at batch 1, in milliseconds.
struct ModelTimes {
  double one = 0;  ///< on one thread; 0: not measured
  double intraop = 0;
  double clusters = 0;
  double mixed = 0;
  double automatic = 0;
  std::string detail{};
  double best() const { return std::min({intraop, clusters, mixed}); }
};

Expected<ModelTimes> model_times(const std::string& model, bool one_thread) {
  PARETO_ASSIGN(ScheduledModel opened, ScheduledModel::open(model, 1));
  std::vector<std::unique_ptr<ShardRunner>> runners;
  // The engine that is fastest on one thread is that of all.
  PARETO_ASSIGN(runners.emplace_back(), opened.load("sequential", 1));
  for (const char* schedule : {"sequential", "clusters", "mixed", "auto"}) {
    PARETO_ASSIGN(runners.emplace_back(), opened.load(schedule, kCores));
  }
  std::vector<ShardRunner*> all;
  for (const auto& runner : runners) all.push_back(runner.get());
  if (!one_thread) all.erase(all.begin());
  PARETO_ASSIGN(auto medians, times_of(all, opened.inputs()));
  if (!one_thread) medians.insert(medians.begin(), 0);
  ModelTimes times{medians[0], medians[1], medians[2], medians[3], medians[4]};
  times.detail = fmt::format(
      "{} {}2: sequential {:.2f}, clusters {:.2f}, mixed {:.2f}, auto ({}) {:.2f}", opened.engine(),
      one_thread ? fmt::format("1 thread {:.2f} ms; ", times.one) : "", times.intraop,
      times.clusters, times.mixed, runners[4]->report().schedule, times.automatic);
  return times;
}

Row auto_row(const std::string& model, const ModelTimes& times) {
  return {"auto_over_best/" + model, times.best() / times.automatic, 0.98, true, times.detail};
}

}  // namespace

Expected<std::vector<Row>> schedule_gain(const std::string& name, const std::string& model,
                                         const ScheduleBars& bars) {
  PARETO_ASSIGN(const ModelTimes times, model_times(model, /*one_thread=*/true));
  return std::vector<Row>{
      {name, times.one / times.best(), bars.over_sequential, true, times.detail},
      {"best_over_intraop/" + model, times.intraop / std::min(times.clusters, times.mixed),
       bars.over_intraop, true, times.detail},
      auto_row(model, times)};
}

Expected<std::vector<Row>> schedule_auto(const std::string&, const std::string& model) {
  PARETO_ASSIGN(const ModelTimes times, model_times(model, /*one_thread=*/false));
  return std::vector<Row>{auto_row(model, times)};
}

Expected<std::vector<Row>> schedule_microbatch(const std::string& name, const std::string& model) {
  PARETO_ASSIGN(ScheduledModel opened, ScheduledModel::open(model, 8));
  PARETO_ASSIGN(const auto one, opened.load("sequential", 1));
  PARETO_ASSIGN(const auto intraop, opened.load("sequential", kCores));
  PARETO_ASSIGN(const auto parts, opened.load("microbatch", kCores));
  PARETO_ASSIGN(const auto times,
                times_of({one.get(), intraop.get(), parts.get()}, opened.inputs()));
  return std::vector<Row>{
      {name, times[0] / times[2], 1.9, true,
       fmt::format("{} {} 1 thread {:.1f} ms, 2 threads {:.1f}, 2 micro-batches {:.1f}{}", model,
                   opened.engine(), times[0], times[1], times[2],
                   parts->report().schedule_reason.empty()
                       ? ""
                       : " (" + parts->report().schedule_reason + ")")}};
}

Expected<std::vector<Row>> schedule_overhead(const std::string& name) {
  // About a millisecond on one thread.
  PARETO_ASSIGN(ScheduledModel opened, ScheduledModel::open("squeezenet1_0", 1));
  PARETO_ASSIGN(const auto plain, opened.load("sequential", 1));
  PARETO_ASSIGN(const auto one_unit, opened.load("clusters", 1));
  PARETO_ASSIGN(const auto times, times_of({plain.get(), one_unit.get()}, opened.inputs()));
  // What a unit costs does not depend on how long it runs: the share is that of a stage of 1 ms.
  const double over = (times[1] - times[0]) / 1.0;
  return std::vector<Row>{{name, 1 + over, 1.01, false,
                           fmt::format("sequential {:.3f} ms, one unit {:.3f} ms: {:+.1f} us",
                                       times[0], times[1], 1000 * (times[1] - times[0]))}};
}

Expected<std::vector<Row>> schedule_mismatches(const std::string& name,
                                               const std::vector<std::string>& models) {
  int mismatches = 0;
  int compared = 0;
  std::string which;
  const auto compare = [&](const std::string& model, ScheduledModel& opened) -> Expected<> {
    opened.use_engine("plain");
    // The bits of some operators depend on how many threads share them.
    std::vector<Tuple> expected;
    for (const int threads : {1, kCores}) {
      PARETO_ASSIGN(const auto reference, opened.load("sequential", threads));
      PARETO_ASSIGN(auto outputs, reference->run(opened.inputs()));
      expected.push_back(Tuple{std::move(outputs)});
    }
    for (const char* schedule : {"clusters", "mixed", "microbatch"}) {
      PARETO_ASSIGN(const auto runner, opened.load(schedule, kCores));
      PARETO_ASSIGN(const auto outputs, runner->run(opened.inputs()));
      ++compared;
      const auto is_equal = [&](const Tuple& one) { return bit_equal(one, Tuple{outputs}); };
      if (std::ranges::any_of(expected, is_equal)) continue;
      ++mismatches;
      which += fmt::format(" {} batch {} {}", model, opened.batch(), schedule);
    }
    return {};
  };
  for (const std::string& model : models) {
    PARETO_ASSIGN(ScheduledModel whole, ScheduledModel::open(model, 1));
    PARETO_TRY(compare(model, whole));
    // Larger batches of smaller pictures, which every model takes: minutes less.
    PARETO_ASSIGN(ScheduledModel small, ScheduledModel::open(model, 3, "3x128x128"));
    PARETO_TRY(compare(model, small));
    PARETO_TRY(small.set_batch(8));
    PARETO_TRY(compare(model, small));
  }
  return std::vector<Row>{{name, static_cast<double>(mismatches), 0, false,
                           fmt::format("of {} outputs, plain engine{}", compared, which)}};
}

}  // namespace pareto::bench
