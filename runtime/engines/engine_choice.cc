#include "runtime/engines/engine_choice.h"

#include <ATen/Parallel.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>
#include <utility>

#include "core/base/text.h"
#include "core/base/thread_pool.h"
#include "runtime/torch/guarded.h"
#include "runtime/torch/threads.h"
#include "runtime/torch/written_weights.h"

namespace pareto::runtime {
namespace {

using Arguments = std::vector<c10::IValue>;

constexpr int kTimedRuns = 3;
// One that took this many times as long as the best is given no other turn: a sweep loads hundreds
// of shards. But a run is easily disturbed. One that is shorter than kShort is timed kTimedRuns
// times before that is believed, and has turns until they took as long. A longer one is timed once
// more, unless it took kFarBehind times as long.
constexpr double kHopeless = 1.3;
constexpr double kFarBehind = 2;
constexpr std::chrono::milliseconds kShort{10};
// Two long runs of each of two engines that are this far apart decide between them.
constexpr double kApart = 1.1;
constexpr int kMostTurns = 10;
constexpr std::uint64_t kContestSeed = 1;
// Folding and fusing reorder sums; a graph gone wrong is off by far more.
constexpr double kMaxErrorFloat32 = 1e-3;

struct Candidate {
  std::unique_ptr<Engine> engine;  ///< null once it has failed, or cannot be the fastest
  EngineTiming timing;
};

/// A contest of all engines against each other on one set of example inputs.
class Contest {
 public:
  Contest(const RunnerOptions& options, const LoadedModule& loaded, const ShardBoundary& boundary)
      : options_(options), loaded_(loaded), boundary_(boundary) {
    for_each_node(loaded.module.get_method("run").graph()->block(),
                  [&](const torch::jit::Node* node) {
                    is_random_ = is_random_ || node->isNondeterministic();
                  });
  }
  ~Contest() {
    if (is_random_) seed_random_numbers(std::random_device{}());
  }

  Expected<ChosenEngine> hold() {
    if (const auto ran = add_plain(); !ran) return unmeasured(ran.error().message);
    add_engines(options_.precision);
    if (options_.precision != Precision::kFloat32) add_engines(Precision::kFloat32);
    if (candidates_.size() > 1) time_in_turns();
    return fastest();
  }

 private:
  /// Adds all engines but plain, in that precision.
  void add_engines(Precision precision) {
    const Nanoseconds plain = candidates_.front().timing.best;
    for (std::size_t i = 1; i < builtin_engines().size(); ++i) {
      const EngineEntry& entry = builtin_engines()[i];
      if (options_.is_hopeless && options_.is_hopeless(entry.name, precision, plain)) continue;
      add(entry, precision);
      time_once(candidates_.back());
      free_hopeless();
    }
  }

  /// Runs an engine once, its time in `took`.
  Expected<std::vector<Value>> run(Engine& engine, Nanoseconds& took) {
    if (engine.is_pooled() && others_are_awake_) give_way_to_pool();
    others_are_awake_ = !engine.is_pooled() && at::get_num_threads() > 1;
    // Again for each run: a graph may write to its arguments.
    PARETO_ASSIGN(Arguments arguments, boundary_.to_arguments(examples_));
    // All engines draw the same random numbers, so that their results can be compared.
    if (is_random_) seed_random_numbers(kContestSeed);
    const Nanoseconds start = now();
    const Arguments results = engine.run(std::move(arguments), nullptr);
    auto values = boundary_.to_values(results);
    took = now() - start;
    return values;
  }

  /// Lets the threads of the engine before fall asleep, and wakes those of the pool: what an engine
  /// learns and how it is judged should not depend on who had a turn before.
  static void give_way_to_pool() {
    await_idle_threads();
    share(current_pool() != nullptr ? current_pool()->threads() : 1, [](int) {});
  }

  /// Returns the time by which runs are compared. One thread's own processor time is not disturbed
  /// by what else the device does; several threads are only seen by a clock.
  Nanoseconds now() const {
    if (at::get_num_threads() > 1 || !loaded_.device.is_cpu()) {
      return std::chrono::steady_clock::now().time_since_epoch();
    }
    timespec spent{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return std::chrono::seconds(spent.tv_sec) + Nanoseconds(spent.tv_nsec);
  }

  std::unique_ptr<Engine> build(const EngineEntry& entry, Precision precision) const {
    LoadedModule loaded = loaded_;
    loaded.precision = precision;
    return entry.build(loaded);
  }

  /// Builds the plain engine, which computes in the model's own precision, whatever was asked for.
  std::unique_ptr<Engine> build_plain() const {
    return build(builtin_engines()[0], Precision::kFloat32);
  }

  Expected<> add_plain() {
    PARETO_ASSIGN(examples_, boundary_.example_values(options_.batch, kContestSeed));
    Candidate candidate;
    candidate.timing.engine = builtin_engines()[0].name;
    auto outputs = guarded("the shard does not run on its example inputs",
                           [&]() -> Expected<std::vector<Value>> {
                             candidate.engine = build_plain();
                             return run(*candidate.engine, candidate.timing.best);
                           });
    PARETO_TRY(outputs);
    reference_ = Tuple{*std::move(outputs)};
    candidates_.push_back(std::move(candidate));
    return {};
  }

  /// Keeps the engine that needs no comparison. If numbers cross the boundary that depend on the
  /// request (a batch size among them), made-up examples may not fit together: then nothing can be
  /// compared.
  Expected<ChosenEngine> unmeasured(const std::string& why) const {
    const std::string& plain = builtin_engines()[0].name;
    return guarded("engine " + plain, [&]() -> Expected<ChosenEngine> {
      ChosenEngine chosen;
      chosen.name = plain;
      chosen.engine = build_plain();
      chosen.timings.push_back({plain, {}, why, 0});
      if (options_.precision != Precision::kFloat32) {
        chosen.precision_reason = "nothing can be compared on example inputs: " + why;
      }
      return chosen;
    });
  }

  /// Returns the largest error that engines in a precision may have.
  double max_error(Precision precision) const {
    return precision == Precision::kFloat32 ? kMaxErrorFloat32 : options_.max_error;
  }

  void add(const EngineEntry& entry, Precision precision) {
    Candidate candidate;
    EngineTiming& timing = candidate.timing;
    timing.engine = entry.name;
    timing.precision = precision;
    const auto outputs = guarded(entry.name, [&]() -> Expected<std::vector<Value>> {
      candidate.engine = build(entry, precision);
      return run(*candidate.engine, timing.best);
    });
    if (!outputs) {
      timing.failure = outputs.error().message;
    } else {
      timing.relative_error = relative_error(reference_, Tuple{*outputs});
      if (!(timing.relative_error <= max_error(precision))) {
        timing.failure =
            fmt::format("its results are off by {:.2g} of the largest", timing.relative_error);
      }
    }
    if (!timing.failure.empty()) candidate.engine.reset();
    // The first run was its warm-up.
    timing.best = candidate.engine ? Nanoseconds::max() : Nanoseconds{};
    candidates_.push_back(std::move(candidate));
  }

  /// Frees hopeless engines. Each keeps weights of its own, packed as it likes: as few as can be
  /// are held at a time.
  void free_hopeless() {
    for (std::size_t i = 1; i < candidates_.size(); ++i) {
      Candidate& candidate = candidates_[i];
      for (int run = 1; run < kTimedRuns && is_behind(candidate, kHopeless); ++run) {
        const bool is_long = candidate.timing.best > kShort;
        if (is_long && (run > 1 || is_behind(candidate, kFarBehind))) break;
        time_once(candidate);
      }
      if (is_behind(candidate, kHopeless)) candidate.engine.reset();
    }
  }

  /// Returns whether its best run took more than that many times the best of all.
  bool is_behind(const Candidate& candidate, double times) const {
    return candidate.engine && static_cast<double>(candidate.timing.best.count()) >
                                   times * static_cast<double>(best_so_far().count());
  }

  /// Times the engines in turns. Each has been timed once when it was added.
  void time_in_turns() {
    const auto has_turn = [this](int round) {
      return round < kTimedRuns || (round < kMostTurns && best_so_far() < kShort / round);
    };
    int rounds = 1;
    for (; has_turn(rounds) && !is_decided(rounds); ++rounds) {
      for (std::size_t i = 1; i < candidates_.size(); ++i) time_once(candidates_[i]);
      free_hopeless();
    }
    // The plain engine is slow. If another is twice as fast even its cold run decides, and a long
    // one after it does unless it comes near.
    Candidate& plain = candidates_[0];
    for (int round = 0; round < rounds; ++round) {
      if (is_behind(plain, kFarBehind)) break;
      if (round > 0 && best_so_far() > kShort && is_behind(plain, kHopeless)) break;
      time_once(plain);
    }
  }

  /// Returns whether more runs would change nothing: only one engine is left, and plain's cold run
  /// took twice as long, or the best of long runs is far from the next one.
  bool is_decided(int rounds) const {
    const auto is_left = [](const Candidate& c) { return c.engine != nullptr; };
    if (std::count_if(candidates_.begin() + 1, candidates_.end(), is_left) == 1) {
      return is_behind(candidates_[0], kFarBehind);
    }
    if (rounds < 2 || best_so_far() <= kShort) return false;
    const auto is_near = [this](const Candidate& c) { return c.engine && !is_behind(c, kApart); };
    return std::count_if(candidates_.begin() + 1, candidates_.end(), is_near) == 1;
  }

  /// Returns the best of the times that were taken after a warm-up; the longest time there is if
  /// none was.
  Nanoseconds best_so_far() const {
    Nanoseconds best = Nanoseconds::max();
    for (std::size_t i = 1; i < candidates_.size(); ++i) {
      if (candidates_[i].engine) best = std::min(best, candidates_[i].timing.best);
    }
    return best;
  }

  void time_once(Candidate& candidate) {
    if (!candidate.engine) return;
    const auto done = guarded(candidate.timing.engine, [&]() -> Expected<> {
      Nanoseconds took{};
      PARETO_TRY(run(*candidate.engine, took));
      candidate.timing.best = std::min(candidate.timing.best, took);
      return {};
    });
    if (done) return;
    candidate.timing.failure = done.error().message;
    candidate.timing.best = {};
    candidate.engine.reset();
  }

  Expected<ChosenEngine> fastest() {
    ChosenEngine chosen;
    Candidate* best = nullptr;
    for (Candidate& candidate : candidates_) {
      if (!candidate.engine) continue;
      if (best == nullptr || candidate.timing.best < best->timing.best) best = &candidate;
    }
    if (best == nullptr) return fail(ErrorCode::kInternal, "no engine runs the shard");
    chosen.engine = std::move(best->engine);
    chosen.name = best->timing.engine;
    chosen.precision = best->timing.precision;
    if (chosen.precision != options_.precision)
      chosen.precision_reason = why_not_lower(best->timing);
    for (Candidate& candidate : candidates_) chosen.timings.push_back(std::move(candidate.timing));
    return chosen;
  }

  /// Says why an engine in fp32 is kept although a lower precision was asked for.
  std::string why_not_lower(const EngineTiming& kept) const {
    const std::string_view asked = to_string(options_.precision);
    const EngineTiming* fastest = nullptr;
    const EngineTiming* nearest = nullptr;
    const EngineTiming* failed = nullptr;
    for (const Candidate& candidate : candidates_) {
      const EngineTiming& timing = candidate.timing;
      if (timing.precision != options_.precision) continue;
      if (timing.failure.empty()) {
        if (fastest == nullptr || timing.best < fastest->best) fastest = &timing;
      } else if (timing.relative_error == 0) {
        failed = &timing;
      } else if (nearest == nullptr || !(nearest->relative_error <= timing.relative_error)) {
        nearest = &timing;
      }
    }
    if (fastest != nullptr) {
      return fmt::format("{} is not faster here: {:.3g} ms, {} {:.3g} ms", asked,
                         to_milliseconds(fastest->best), to_string(kept.precision),
                         to_milliseconds(kept.best));
    }
    if (nearest != nullptr) {
      return fmt::format("{} is off by {:.2g} % of the largest output, the limit is {:.2g} %",
                         asked, 100 * nearest->relative_error, 100 * options_.max_error);
    }
    if (failed != nullptr)
      return fmt::format("no engine runs it in {}: {}", asked, failed->failure);
    return fmt::format("{} was too far off or slower in shards like it", asked);
  }

  const RunnerOptions& options_;
  const LoadedModule& loaded_;
  const ShardBoundary& boundary_;
  bool others_are_awake_ = false;  ///< LibTorch's threads may still look for work
  bool is_random_ = false;         ///< the shard draws random numbers
  std::vector<Value> examples_;
  Value reference_;  ///< the plain engine's outputs
  std::vector<Candidate> candidates_;
};

Expected<ChosenEngine> build_named(const EngineEntry& entry, const LoadedModule& loaded,
                                   const ShardBoundary& boundary, std::int64_t batch) {
  return guarded("engine " + entry.name, [&]() -> Expected<ChosenEngine> {
    ChosenEngine chosen;
    chosen.name = entry.name;
    chosen.precision = loaded.precision;
    chosen.engine = entry.build(loaded);
    // The plain engine has nothing to prepare: comparing all cuts of a model loads thousands of it.
    if (entry.name == builtin_engines()[0].name) return chosen;
    PARETO_ASSIGN(const auto examples, boundary.example_values(batch, kContestSeed));
    PARETO_ASSIGN(Arguments arguments, boundary.to_arguments(examples));
    chosen.engine->run(std::move(arguments), nullptr);
    return chosen;
  });
}

}  // namespace

Expected<ChosenEngine> choose_engine(const RunnerOptions& options, const LoadedModule& loaded,
                                     const ShardBoundary& boundary) {
  const std::string& name = options.engine;
  if (name == "auto") return Contest(options, loaded, boundary).hold();
  for (const EngineEntry& entry : builtin_engines()) {
    if (entry.name == name) return build_named(entry, loaded, boundary, options.batch);
  }
  return fail(ErrorCode::kInvalidArgument, "unknown engine \"{}\"{}; engines are auto, {}", name,
              did_you_mean(name, engine_names()), join(engine_names()));
}

}  // namespace pareto::runtime
