#include <algorithm>
#include <map>
#include <string>

#include "core/runtime/schedules/schedule.h"
#include "tests/bench/benches.h"
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
  static Expected<ScheduledModel> open(const std::string& name, std::int64_t batch) {
    PARETO_ASSIGN(auto model, model::open_model(name, {}));
    ScheduledModel opened(std::move(model), batch);
    PARETO_ASSIGN(opened.inputs_, opened.model_.example_inputs(batch, 1));
    PARETO_ASSIGN(opened.shard_, model::emit_shard(opened.model_, 0, operators_of(opened.model_)));
    return opened;
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
  void use_engine(const std::string& name) { engine_ = name; }
  const std::vector<Value>& inputs() const { return inputs_; }
  const std::string& engine() const { return engine_; }

 private:
  ScheduledModel(model::Model model, std::int64_t batch)
      : model_(std::move(model)), batch_(batch) {}

  model::Model model_;
  std::int64_t batch_;
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

}  // namespace

Expected<std::vector<Row>> schedule_gain(const std::string& name, const std::string& model,
                                         const ScheduleBars& bars) {
  PARETO_ASSIGN(ScheduledModel opened, ScheduledModel::open(model, 1));
  std::vector<std::unique_ptr<ShardRunner>> runners;
  PARETO_ASSIGN(runners.emplace_back(), opened.load("sequential", 1));
  for (const char* schedule : {"sequential", "clusters", "mixed", "auto"}) {
    PARETO_ASSIGN(runners.emplace_back(), opened.load(schedule, kCores));
  }
  std::vector<ShardRunner*> all;
  for (const auto& runner : runners) all.push_back(runner.get());
  PARETO_ASSIGN(const auto times, times_of(all, opened.inputs()));
  const auto [one, intraop, clusters, mixed, automatic] =
      std::tuple{times[0], times[1], times[2], times[3], times[4]};
  const double best = std::min({intraop, clusters, mixed});
  const std::string detail = fmt::format(
      "{} 1 thread {:.2f} ms; 2: sequential {:.2f}, clusters {:.2f}, mixed {:.2f}, auto ({}) "
      "{:.2f}",
      opened.engine(), one, intraop, clusters, mixed, runners[4]->report().schedule, automatic);
  return std::vector<Row>{{name, one / best, bars.over_sequential, true, detail},
                          {"best_over_intraop/" + model, intraop / std::min(clusters, mixed),
                           bars.over_intraop, true, detail},
                          {"auto_over_best/" + model, best / automatic, 0.98, true, detail}};
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
  for (const std::string& model : models) {
    for (const std::int64_t batch : {1, 3, 8}) {
      PARETO_ASSIGN(ScheduledModel opened, ScheduledModel::open(model, batch));
      opened.use_engine("plain");
      PARETO_ASSIGN(const auto reference, opened.load("sequential", 1));
      PARETO_ASSIGN(const auto expected, reference->run(opened.inputs()));
      for (const char* schedule : {"clusters", "mixed", "microbatch"}) {
        PARETO_ASSIGN(const auto runner, opened.load(schedule, kCores));
        PARETO_ASSIGN(const auto outputs, runner->run(opened.inputs()));
        ++compared;
        if (bit_equal(Tuple{expected}, Tuple{outputs})) continue;
        ++mismatches;
        which += fmt::format(" {} batch {} {}", model, batch, schedule);
      }
    }
  }
  return std::vector<Row>{{name, static_cast<double>(mismatches), 0, false,
                           fmt::format("of {} outputs, plain engine{}", compared, which)}};
}

}  // namespace pareto::bench
