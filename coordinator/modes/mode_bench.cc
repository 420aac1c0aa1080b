#include "coordinator/modes/mode_bench.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <utility>

#include "coordinator/modes/contestant.h"
#include "coordinator/modes/fallback.h"
#include "coordinator/modes/training_turns.h"
#include "core/base/process_memory.h"
#include "core/base/text.h"
#include "partitioner/model/emit/emit.h"
#include "runtime/shard_runner.h"

namespace pareto::modes {
namespace {

constexpr const char* kDirect = "direct";
constexpr const char* kEager = "eager";
constexpr const char* kOptimised = "optimised";

using Runner = std::shared_ptr<runtime::ShardRunner>;

/// A shard that was loaded, and what that took.
struct Part {
  Runner runner;
  Nanoseconds prepare{};
};

/// Says why a shard does not run as was asked for; "" if it does.
std::string fallback_of(const runtime::LoadReport& report) {
  std::vector<Tried> tried;
  for (const runtime::EngineTiming& timing : report.timings) {
    tried.push_back({timing.engine, timing.failure});
  }
  return fallback_text(report.engine, report.precision_reason, tried);
}

/// Makes a contestant that runs shards one after the other.
Contestant contestant_of(const std::string& work, const std::string& mode,
                         const std::vector<Part>& parts, const std::vector<Value>& inputs) {
  Contestant one;
  ModeFigures& figures = one.figures;
  figures.work = work;
  figures.mode = mode;
  std::vector<std::string> engines;
  for (const Part& part : parts) {
    const runtime::LoadReport& report = part.runner->report();
    if (engines.empty() || engines.back() != report.engine) engines.push_back(report.engine);
    if (mode == kOptimised && figures.reason.empty()) figures.reason = fallback_of(report);
    figures.prepare += part.prepare;
    figures.held_bytes += report.weight_bytes + report.packed_bytes;
  }
  figures.engine = join(engines, " -> ");
  one.run = [parts, inputs]() -> Expected<> {
    std::vector<Value> values = inputs;
    for (const Part& part : parts) {
      PARETO_ASSIGN(values, part.runner->run(std::move(values)));
    }
    return {};
  };
  return one;
}

/// Measures what one turn adds to the memory of this process. Returns whether that is known.
Expected<bool> see_peak(Contestant& one) {
  return_freed_memory();
  const bool is_known = restart_peak();
  const std::uint64_t before = process_memory().resident_bytes;
  PARETO_TRY(one.prepare());
  const std::uint64_t ready = process_memory().resident_bytes;
  if (one.before) one.figures.held_bytes += ready - std::min(ready, before);
  PARETO_TRY(one.run());
  const std::uint64_t peak = process_memory().peak_bytes;
  one.figures.peak_bytes = peak - std::min(peak, before);
  return is_known && before > 0;
}

/// Fills in what follows from the times of all turns.
void settle_times(Contestant& one) {
  std::ranges::sort(one.times);
  one.figures.best = one.times.front();
  one.figures.median = one.times[one.times.size() / 2];
}

/// The measurement of one model, and what it found so far.
///
/// Threads: one owner.
class ModeBench {
 public:
  using Progress = std::function<void(const std::string&, std::size_t, std::size_t)>;

  ModeBench(const model::Model& model, const ModeBenchOptions& options, const Progress& progress)
      : model_(model), options_(options), progress_(progress) {}

  Expected<ModeBenchResult> run() {
    // It is the model's, and not of the first part that asks for it.
    model_.weight_digests();
    PARETO_ASSIGN(inputs_, model_.example_inputs(options_.batch, options_.seed));
    for (const char* mode : {kEager, kOptimised}) PARETO_TRY(add_mode(mode));
    PARETO_TRY(add_training());
    PARETO_TRY(take_turns());
    for (Contestant& one : contestants_) {
      settle_times(one);
      PARETO_ASSIGN(const bool is_known, see_peak(one));
      result_.is_peak_known = result_.is_peak_known && is_known;
      result_.rows.push_back(one.figures);
    }
    compare();
    return std::move(result_);
  }

 private:
  Expected<> add_mode(const std::string& mode) {
    const auto all = static_cast<std::int64_t>(model_.graph().operators.size());
    const plan::OperatorRanges& before = options_.cut.before;
    std::vector<std::int64_t> behind;
    for (std::int64_t op = 0; op < all; ++op) {
      if (!plan::holds(before, op)) behind.push_back(op);
    }
    PARETO_ASSIGN(const Part whole, load(mode, kDirect, plan::ShardOperators::between(0, all)));
    PARETO_ASSIGN(const Part prefix, load(mode, "prefix", plan::ShardOperators{{}, before}));
    PARETO_ASSIGN(const Part suffix,
                  load(mode, "suffix", plan::ShardOperators{before, plan::ranges_of(behind)}));
    PARETO_ASSIGN(std::vector<Value> crossing, prefix.runner->run(inputs_));
    const auto add = [&](const char* work, const std::vector<Part>& parts,
                         const std::vector<Value>& inputs) {
      contestants_.push_back(contestant_of(work, mode, parts, inputs));
    };
    add(kDirect, {whole}, inputs_);
    add("prefix + suffix", {prefix, suffix}, inputs_);
    add("prefix", {prefix}, inputs_);
    add("suffix", {suffix}, crossing);
    return {};
  }

  Expected<> add_training() {
    if (options_.loss == nullptr) return {};
    if (progress_) progress_("loading trainers", 0, 0);
    PARETO_ASSIGN(auto trained, with_context(training_contestants(model_, *options_.loss, options_),
                                             "training (--no-training leaves it out)"));
    std::ranges::move(trained, std::back_inserter(contestants_));
    return {};
  }

  Expected<Part> load(const std::string& mode, const char* work,
                      const plan::ShardOperators& operators) const {
    if (progress_) progress_(fmt::format("loading {}, {}", work, mode), 0, 0);
    runtime::RunnerOptions options;
    options.engine = mode == kEager ? "plain" : options_.engine;
    options.batch = options_.batch;
    options.threads = options_.threads;
    if (mode == kOptimised) options.precision = options_.precision;
    options.max_error = options_.max_error;
    options.schedule = options_.schedule;
    const auto began = std::chrono::steady_clock::now();
    PARETO_ASSIGN(const plan::Shard shard, model::emit_shard(model_, operators));
    PARETO_ASSIGN(std::shared_ptr<runtime::ShardRunner> runner,
                  runtime::ShardRunner::load(
                      shard, [&](const Digest& digest) { return model_.weight(digest); }, options));
    return Part{std::move(runner), std::chrono::steady_clock::now() - began};
  }

  /// Returns the time by which turns are compared. One thread's own processor time is not disturbed
  /// by what else the machine does.
  Nanoseconds now() const {
    if (options_.threads > 1) return std::chrono::steady_clock::now().time_since_epoch();
    timespec spent{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return std::chrono::seconds(spent.tv_sec) + Nanoseconds(spent.tv_nsec);
  }

  Expected<> take_turns() {
    result_.by_processor = options_.threads == 1;
    for (Contestant& one : contestants_) {
      PARETO_TRY(one.prepare());
      PARETO_TRY(one.run());
    }
    const auto began = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::steady_clock::now() - began; };
    while (result_.rounds < options_.rounds || passed() < options_.duration) {
      for (Contestant& one : contestants_) {
        PARETO_TRY(one.prepare());
        const Nanoseconds start = now();
        PARETO_TRY(one.run());
        one.times.push_back(now() - start);
      }
      ++result_.rounds;
      // The time says more than rounds, once there are enough of these.
      const double share =
          std::min(static_cast<double>(result_.rounds) / std::max(options_.rounds, 1),
                   to_nanoseconds(passed()) / std::max(to_nanoseconds(options_.duration), 1.0));
      if (progress_) {
        progress_("taking turns", static_cast<std::size_t>(100 * std::min(share, 1.0)), 100);
      }
    }
    return {};
  }

  const ModeFigures* find(const std::string& work, const std::string& mode) const {
    const auto found = std::ranges::find_if(
        result_.rows, [&](const ModeFigures& row) { return row.work == work && row.mode == mode; });
    return found == result_.rows.end() ? nullptr : &*found;
  }

  /// Fills in what follows from other rows.
  void compare() {
    for (ModeFigures& row : result_.rows) {
      if (const ModeFigures* whole = find(kDirect, row.mode)) {
        row.over_direct = to_nanoseconds(row.best) / to_nanoseconds(whole->best);
      }
      const ModeFigures* eager = find(row.work, kEager);
      if (row.mode != kOptimised || eager == nullptr) continue;
      const double saved = to_nanoseconds(eager->median) - to_nanoseconds(row.median);
      const double cost = to_nanoseconds(row.prepare) - to_nanoseconds(eager->prepare);
      if (saved > 0) row.paid_after = std::max(cost, 0.0) / saved;
    }
  }

  const model::Model& model_;
  const ModeBenchOptions& options_;
  const Progress& progress_;
  std::vector<Value> inputs_;
  std::vector<Contestant> contestants_;
  ModeBenchResult result_;
};

}  // namespace

Expected<ModeBenchResult> bench_modes(
    const model::Model& model, const ModeBenchOptions& options,
    const std::function<void(const std::string& now, std::size_t done, std::size_t total)>&
        progress) {
  return ModeBench(model, options, progress).run();
}

}  // namespace pareto::modes
