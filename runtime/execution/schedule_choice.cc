#include "runtime/execution/schedule_choice.h"

#include <c10/util/ScopeExit.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "core/plan/plan.h"
#include "core/plan/stage_settings.h"
#include "runtime/execution/measured_graph.h"
#include "runtime/schedules/schedule.h"
#include "runtime/torch/guarded.h"
#include "runtime/torch/threads.h"

namespace pareto::runtime {
namespace {

using Arguments = std::vector<c10::IValue>;
using schedules::ScheduleEntry;
using schedules::Timetable;
using Clock = std::chrono::steady_clock;

// Rounds in which candidates are timed. The first one warms up. If runs are long, some are enough.
constexpr int kRounds = 5;
constexpr int kLeastRounds = 3;
constexpr std::chrono::seconds kLongEnough{1};
// The bound is that of engines, of which fusing reorders sums. Units of a fused graph keep its
// operators, so that only a batch that is cut may differ at all.
constexpr double kMaxError = 1e-3;
// Nanoseconds that a value takes from one worker to another that looks for it.
constexpr double kHandOff = 3000;

const std::string kProgram = "program";
const std::string kMixed = "mixed";

/// Returns the schedule that all others are compared with.
const ScheduleEntry& sequential_entry() { return schedules::builtin_schedules().front(); }

/// Returns whether one unit has all operators, and runs on the whole batch.
bool is_sequential(const Timetable& timetable) {
  return timetable.units.size() <= 1 && timetable.parts == 1;
}

/// Returns the entry of a schedule that has been checked, "program" for a program's JSON text.
const ScheduleEntry& entry_of(const std::string& schedule) {
  const std::string& name = plan::is_program(schedule) ? kProgram : schedule;
  return *std::ranges::find(schedules::builtin_schedules(), name, &ScheduleEntry::name);
}

class Chooser;

class MeasuredShard final : public ScheduledShard {
 public:
  MeasuredShard(std::shared_ptr<Engine> sequential, int threads, std::shared_ptr<ThreadPool> pool)
      : pool_(std::move(pool)), threads_(threads), sequential_(std::move(sequential)) {}

  Engine& engine() override { return scheduled_ ? *scheduled_ : *sequential_; }
  const std::string& name() const override { return name_; }
  const std::string& reason() const override { return reason_; }

  Expected<schedules::ScheduleTrace> trace(const Arguments& arguments, int repeats) override {
    return guarded("tracing the schedule", [&]() -> Expected<schedules::ScheduleTrace> {
      schedules::ScheduleTrace trace;
      trace.graph = graph_->graph();
      trace.timetable = timetable_;
      trace.predicted = schedules::makespan(timetable_, trace.graph, kHandOff);
      trace.peak_bytes = schedules::peak_bytes(timetable_, trace.graph);
      const auto recorded = graph_->build(timetable_);
      struct Run {
        Nanoseconds took;
        std::vector<schedules::TurnTime> turns;
      };
      std::vector<Run> runs;
      std::vector<Nanoseconds> one;
      std::vector<Nanoseconds> all;
      ScheduledEngine::Record record;
      for (int run = -1; run < std::max(repeats, 1); ++run) {
        recorded->record(&record);
        const Nanoseconds took = time(*recorded, arguments, threads_);
        const Nanoseconds alone = time(*sequential_, arguments, 1);
        const Nanoseconds together = time(*sequential_, arguments, threads_);
        if (run < 0) continue;  // it warms up
        runs.push_back({took, record.turns});
        one.push_back(alone);
        all.push_back(together);
      }
      const auto middle = [](auto& values, auto by) -> auto& {
        const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::ranges::nth_element(values, at, {}, by);
        return *at;
      };
      Run& median = middle(runs, &Run::took);
      trace.measured = median.took;
      trace.turns = std::move(median.turns);
      trace.sequential_one = middle(one, std::identity{});
      trace.sequential_all = middle(all, std::identity{});
      return trace;
    });
  }

 private:
  friend class Chooser;

  Nanoseconds time(Engine& engine, const Arguments& arguments, int threads) const {
    set_thread_count(threads);
    const PoolScope scope(threads > 1 ? pool_.get() : nullptr);
    const auto start = Clock::now();
    engine.run(arguments, nullptr);
    const Nanoseconds took = Clock::now() - start;
    set_thread_count(threads_);
    return took;
  }

  const std::shared_ptr<ThreadPool> pool_;
  const int threads_;
  const std::shared_ptr<Engine> sequential_;
  std::unique_ptr<MeasuredGraph> graph_;
  Timetable timetable_;
  std::unique_ptr<ScheduledEngine> scheduled_;  ///< null: sequential
  std::string name_ = sequential_entry().name;
  std::string reason_;
};

class Chooser {
 public:
  Chooser(const RunnerOptions& options, const LoadedModule& loaded, const ShardBoundary& boundary,
          const ChosenEngine& chosen, std::shared_ptr<ThreadPool> pool)
      : options_(options),
        boundary_(boundary),
        cpu_(loaded.device.is_cpu()),
        plain_(chosen.name == builtin_engines()[0].name),
        shard_(std::make_unique<MeasuredShard>(chosen.engine, options.threads, pool)) {
    LoadedModule prepared = loaded;
    prepared.precision = chosen.precision;
    for (const EngineEntry& entry : builtin_engines()) {
      if (entry.name != chosen.name) continue;
      shard_->graph_ =
          std::make_unique<MeasuredGraph>(entry, std::move(prepared), options.threads, *pool);
    }
  }

  Expected<std::unique_ptr<ScheduledShard>> choose() {
    if (!cpu_) return fail(ErrorCode::kInvalidArgument, "schedules run on the CPU only");
    PARETO_ASSIGN(examples_, boundary_.example_values(options_.batch, plan::kExampleSeed));
    PARETO_ASSIGN(reference_, run(shard_->engine()));
    PARETO_ASSIGN(const Arguments arguments, boundary_.to_arguments(examples_));
    shard_->graph_->measure(arguments);
    PARETO_TRY(learn_batch(arguments));
    if (options_.schedule == plan::kAutoSchedule) {
      PARETO_TRY(keep_fastest());
    } else {
      PARETO_TRY(keep_named());
    }
    return std::move(shard_);
  }

 private:
  Expected<> learn_batch(const Arguments& arguments) {
    if (options_.batch < 2) {
      whole_because_ = "a batch of one sample cannot be cut";
      return {};
    }
    PARETO_ASSIGN(const auto fewer,
                  boundary_.example_values(options_.batch / 2, plan::kExampleSeed));
    PARETO_ASSIGN(const Arguments part, boundary_.to_arguments(fewer));
    whole_because_ = shard_->graph_->find_batch_rule(options_.batch, arguments, part);
    return {};
  }

  Expected<std::vector<Value>> run(Engine& engine) const {
    PARETO_ASSIGN(Arguments arguments, boundary_.to_arguments(examples_));
    const PoolScope scope(options_.threads > 1 ? shard_->pool_.get() : nullptr);
    return boundary_.to_values(engine.run(std::move(arguments), nullptr));
  }

  /// Computes the chosen engine's results on one thread, once.
  Expected<> learn_alone() {
    if (reference_alone_) return {};
    if (options_.threads == 1) {
      reference_alone_ = reference_;
      return {};
    }
    set_thread_count(1);
    const auto restored = c10::make_scope_exit([this] { set_thread_count(options_.threads); });
    PARETO_ASSIGN(Arguments arguments, boundary_.to_arguments(examples_));
    const PoolScope scope(nullptr);
    PARETO_ASSIGN(reference_alone_,
                  boundary_.to_values(shard_->sequential_->run(std::move(arguments), nullptr)));
    return {};
  }

  Expected<Timetable> make(const ScheduleEntry& entry, bool may_split, std::int64_t batch) const {
    schedules::ScheduleRequest request;
    request.graph = shard_->graph_->graph();
    request.workers = static_cast<std::size_t>(std::min(options_.threads, ThreadPool::kMostParts));
    request.batch = batch;
    request.may_split = may_split;
    request.hand_off = kHandOff;
    if (entry.name == kProgram) request.program = options_.schedule;
    // A stage may lack what a rule names. `paretoctl schedule` checks rules on the whole model.
    request.partial = true;
    PARETO_ASSIGN(Timetable timetable, entry.make(request));
    PARETO_TRY(schedules::check(timetable, request.graph));
    return timetable;
  }

  struct Candidate {
    std::string name;
    Timetable timetable;
    std::unique_ptr<ScheduledEngine> engine;  ///< null: the whole graph at once
    std::string reason{};
    Nanoseconds best = Nanoseconds::max();
  };

  Expected<Timetable> make(const ScheduleEntry& entry) const {
    return make(entry, whole_because_.empty(), options_.batch);
  }

  /// Returns whether a schedule cuts batches like this one that can be cut; for one sample: any.
  bool cuts(const ScheduleEntry& entry) const {
    const auto timetable = make(entry, true, options_.batch > 1 ? options_.batch : plan::kMaxBatch);
    return timetable && timetable->parts > 1;
  }

  /// Returns the candidate that runs the whole graph at once.
  Expected<Candidate> sequential() const {
    PARETO_ASSIGN(Timetable timetable, make(sequential_entry()));
    return Candidate{sequential_entry().name, std::move(timetable), nullptr};
  }

  /// Builds a schedule and compares its results with the reference. If a cut batch gives others, it
  /// is built without cutting.
  Expected<Candidate> prepare(const ScheduleEntry& entry, Timetable timetable) {
    const bool cut = timetable.parts > 1;
    auto engine = shard_->graph_->build(timetable);
    const auto outputs = guarded(entry.name, [&] { return run(*engine); });
    if (!outputs && !cut) return tl::unexpected(outputs.error());
    std::string wrong;
    if (outputs) {
      PARETO_ASSIGN(wrong, difference(timetable, *outputs));
    } else {
      wrong = outputs.error().message;
    }
    if (wrong.empty()) return Candidate{entry.name, std::move(timetable), std::move(engine)};
    if (!cut) return fail(ErrorCode::kInternal, "schedule {}: {}", entry.name, wrong);
    PARETO_ASSIGN(Timetable whole, make(entry, false, options_.batch));
    PARETO_ASSIGN(Candidate uncut, prepare(entry, std::move(whole)));
    uncut.reason = "the batch is not cut: " + wrong;
    return uncut;
  }

  /// Says what is wrong with results, or nothing. The bits of an operator may depend on how many
  /// threads it has: they are those of the plain engine with as many.
  Expected<std::string> difference(const Timetable& timetable, const std::vector<Value>& outputs) {
    const auto error = [&](const std::vector<Value>& reference) {
      return relative_error(Tuple{reference}, Tuple{outputs});
    };
    const auto fits = [&](const std::vector<Value>& reference) {
      return plain_ ? bit_equal(Tuple{reference}, Tuple{outputs}) : error(reference) <= kMaxError;
    };
    const auto shares = [](const schedules::Phase& phase) { return phase.all_threads; };
    const bool all = !plain_ || std::ranges::any_of(timetable.phases, shares);
    if (all && fits(reference_)) return "";
    if (!std::ranges::all_of(timetable.phases, shares)) {
      PARETO_TRY(learn_alone());
      if (fits(*reference_alone_)) return "";
    }
    if (plain_) return "its results are not those of the plain engine bit for bit";
    return fmt::format("its results are off by {:.2g} of the largest", error(reference_));
  }

  Expected<> keep_named() {
    const ScheduleEntry& entry = entry_of(options_.schedule);
    PARETO_ASSIGN(Timetable timetable, make(entry));
    auto candidate = prepare(entry, std::move(timetable));
    if (entry.name != kMixed) {
      PARETO_TRY(candidate);
      if (!whole_because_.empty() && cuts(entry)) candidate->reason = whole_because_;
      return keep(*candidate);
    }
    PARETO_ASSIGN(Candidate whole, sequential());
    if (!candidate) {
      whole.reason = candidate.error().message;
      return keep(whole);
    }
    std::vector<Candidate> both;
    both.push_back(std::move(whole));
    both.push_back(*std::move(candidate));
    return keep(fastest_of(both));
  }

  Expected<> keep_fastest() {
    std::vector<Candidate> candidates;
    PARETO_ASSIGN(Candidate whole, sequential());
    candidates.push_back(std::move(whole));
    const auto& all = schedules::builtin_schedules();
    for (const ScheduleEntry& entry : all) {
      // The first of those that are alike within a device.
      if (entry.name == kProgram ||
          &*std::ranges::find(all, entry.make, &ScheduleEntry::make) != &entry)
        continue;
      auto timetable = make(entry);
      // One that does not fit takes no part, nor one that is "sequential" here by another name.
      if (!timetable || is_sequential(*timetable)) continue;
      auto candidate = prepare(entry, *std::move(timetable));
      if (candidate) candidates.push_back(*std::move(candidate));
    }
    return keep(fastest_of(candidates));
  }

  /// Times candidates in turns and returns the fastest, with a reason if it is not the last.
  Candidate& fastest_of(std::vector<Candidate>& candidates) const {
    const auto begin = Clock::now();
    const auto is_enough = [&](int rounds) {
      return rounds >= kLeastRounds && Clock::now() - begin >= kLongEnough;
    };
    for (int round = 0; round < kRounds && !is_enough(round); ++round) {
      for (Candidate& candidate : candidates) {
        Engine& engine = candidate.engine ? *candidate.engine : *shard_->sequential_;
        const auto start = Clock::now();
        static_cast<void>(run(engine));
        const Nanoseconds took = Clock::now() - start;
        if (round > 0) candidate.best = std::min(candidate.best, took);
      }
    }
    Candidate& best = *std::ranges::min_element(candidates, {}, &Candidate::best);
    const bool asked = best.name == options_.schedule;
    std::string times;
    for (const Candidate& candidate : candidates) {
      times += fmt::format("{}{} {:.3g} ms", times.empty() ? "" : ", ", candidate.name,
                           to_milliseconds(candidate.best));
    }
    if (!asked) best.reason = "the fastest here: " + times;
    return best;
  }

  Expected<> keep(Candidate& candidate) {
    shard_->name_ = candidate.name == kProgram ? options_.schedule : candidate.name;
    shard_->reason_ = std::move(candidate.reason);
    constexpr auto kMostWorkers = static_cast<std::size_t>(ThreadPool::kMostParts);
    if (options_.threads > ThreadPool::kMostParts &&
        candidate.timetable.workers() == kMostWorkers) {
      shard_->reason_ += fmt::format("{}{} of {} threads are its workers: there are no more",
                                     shard_->reason_.empty() ? "" : "; ", ThreadPool::kMostParts,
                                     options_.threads);
    }
    shard_->timetable_ = std::move(candidate.timetable);
    shard_->scheduled_ = std::move(candidate.engine);
    return {};
  }

  const RunnerOptions& options_;
  const ShardBoundary& boundary_;
  const bool cpu_;
  const bool plain_;
  std::unique_ptr<MeasuredShard> shard_;
  std::vector<Value> examples_;
  std::vector<Value> reference_;  ///< the chosen engine's results, with all threads
  std::optional<std::vector<Value>> reference_alone_;  ///< and on one, if learn_alone() was called
  std::string whole_because_;  ///< why the batch is never cut; empty: it may be
};

}  // namespace

Expected<std::unique_ptr<ScheduledShard>> choose_schedule(const RunnerOptions& options,
                                                          const LoadedModule& loaded,
                                                          const ShardBoundary& boundary,
                                                          const ChosenEngine& chosen,
                                                          std::shared_ptr<ThreadPool> pool) {
  return guarded("schedule " + options.schedule.substr(0, 40),
                 [&]() -> Expected<std::unique_ptr<ScheduledShard>> {
                   return Chooser(options, loaded, boundary, chosen, std::move(pool)).choose();
                 });
}

}  // namespace pareto::runtime
