#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "partitioner/model/emit/emit.h"
#include "partitioner/model/emit/verify.h"
#include "partitioner/model/graph/cuts.h"
#include "runtime/torch/threads.h"

namespace pareto::model {
namespace {

/// Cuts as places in a plan's order: 0 is the beginning, the last one the end of the model.
struct Place {
  plan::OperatorRanges before;
  std::vector<std::int64_t> live;  ///< values that cross, as indices into Graph::values
};

/// A shard between two places, the second of which holds the first.
struct Stretch {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// Finds a shard into each place from the largest one that it holds, and one out of each.
std::vector<Stretch> stretches_between(const std::vector<Place>& places) {
  std::vector<Stretch> stretches;
  std::vector<bool> is_left(places.size(), false);
  for (std::size_t to = 1; to < places.size(); ++to) {
    std::size_t from = to - 1;
    while (!holds_all(places[to].before, places[from].before)) --from;
    stretches.push_back({from, to});
    is_left[from] = true;
  }
  for (std::size_t from = 0; from + 1 < places.size(); ++from) {
    if (is_left[from]) continue;
    std::size_t to = from + 1;
    while (!holds_all(places[to].before, places[from].before)) ++to;
    stretches.push_back({from, to});
  }
  // Values are made before they are read: what crosses a place comes from smaller sets.
  std::ranges::stable_sort(stretches, {}, &Stretch::to);
  return stretches;
}

/// Compares many cuts, in steps: the shards of a step need only what earlier ones made.
///
/// Threads: run() from one; the workers are its own and end with each step.
class TogetherVerification {
 public:
  TogetherVerification(const Model& model, const VerifyOptions& options, std::vector<WholeRun> runs)
      : model_(model), options_(options), runs_(std::move(runs)) {
    std::vector<std::size_t> order(options.cuts.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return size_of(i); });
    place_of_.resize(order.size());
    add_place({});
    for (const std::size_t cut : order) {
      place_of_[cut] = places_.size();
      add_place(options.cuts[cut].before);
    }
    add_place({{0, static_cast<std::int64_t>(model.graph().operators.size())}});
    stretches_ = stretches_between(places_);
    values_.resize(runs_.size());
    why_.assign(stretches_.size(), std::vector<std::string>(runs_.size()));
    find_last_uses();
  }

  std::vector<VerifyRow> run(const std::function<void(std::size_t, std::size_t)>& on_shard) {
    for (std::size_t begin = 0; begin < stretches_.size();) {
      const std::int64_t size = plan::count_of(places_[stretches_[begin].to].before);
      std::size_t end = begin;
      while (end < stretches_.size() &&
             plan::count_of(places_[stretches_[end].to].before) == size) {
        ++end;
      }
      run_step(begin, end);
      drop_values(end);
      begin = end;
      if (on_shard) on_shard(begin, stretches_.size());
    }
    return rows();
  }

 private:
  std::int64_t size_of(std::size_t cut) const { return plan::count_of(options_.cuts[cut].before); }

  void add_place(plan::OperatorRanges before) {
    auto live = live_values(model_.graph(), before);
    places_.push_back({std::move(before), std::move(live)});
  }

  /// Notes up to which shard each value is read or compared.
  void find_last_uses() {
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      for (const std::size_t place : {stretches_[i].from, stretches_[i].to}) {
        for (const std::int64_t value : places_[place].live) last_use_[value] = i;
      }
    }
  }

  void drop_values(std::size_t done) {
    for (auto& values : values_) {
      std::erase_if(values, [&](const auto& one) { return last_use_.at(one.first) < done; });
    }
  }

  void run_step(std::size_t begin, std::size_t end) {
    std::atomic<std::size_t> next{begin};
    const auto work = [&] {
      runtime::set_thread_count(options_.runner.threads);
      for (std::size_t i = next++; i < end; i = next++) run_stretch(i);
    };
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    const auto workers = std::clamp<std::size_t>(
        cores / static_cast<unsigned>(std::max(1, options_.runner.threads)), 1, 8);
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::min(workers, end - begin); ++i) threads.emplace_back(work);
  }

  void run_stretch(std::size_t index) {
    const Stretch& stretch = stretches_[index];
    const auto runner = load(stretch);
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      std::string& why = why_[index][run];
      if (!runner) {
        why = runner.error().message;
        continue;
      }
      auto inputs = values_before(stretch.from, run);
      if (!inputs) {
        why = "the values before it are not known";
        continue;
      }
      auto outputs = (*runner)->run(*std::move(inputs));
      why = outputs ? compare(stretch.to, run, *std::move(outputs)) : outputs.error().message;
    }
  }

  Expected<std::unique_ptr<runtime::ShardRunner>> load(const Stretch& stretch) {
    const plan::OperatorRanges& before = places_[stretch.from].before;
    std::vector<std::int64_t> own = operators_in(places_[stretch.to].before);
    std::erase_if(own, [&](std::int64_t op) { return plan::holds(before, op); });
    const auto emit = [&] {
      const std::lock_guard lock(model_mutex_);
      return emit_shard(model_, plan::ShardOperators{before, plan::ranges_of(own)});
    };
    PARETO_ASSIGN(const plan::Shard shard, emit());
    const auto weights = [this](const Digest& digest) {
      const std::lock_guard lock(model_mutex_);
      return model_.weight(digest);
    };
    return runtime::ShardRunner::load(shard, weights, options_.runner);
  }

  std::optional<std::vector<Value>> values_before(std::size_t place, std::size_t run) {
    if (place == 0) return runs_[run].inputs;
    const std::lock_guard lock(values_mutex_);
    std::vector<Value> values;
    for (const std::int64_t index : places_[place].live) {
      const auto found = values_[run].find(index);
      if (found == values_[run].end()) return std::nullopt;
      values.push_back(found->second);
    }
    return values;
  }

  /// Compares what a shard made with what others made of it, or with the whole model's outputs, and
  /// keeps what is new. Returns what differs.
  std::string compare(std::size_t place, std::size_t run, std::vector<Value> outputs) {
    if (place + 1 == places_.size()) {
      const Value all{List{std::move(outputs)}};
      if (bit_equal(runs_[run].outputs, all)) return {};
      return fmt::format("the outputs differ from the whole model's by {:.2g}",
                         pareto::relative_error(runs_[run].outputs, all));
    }
    const std::lock_guard lock(values_mutex_);
    std::string differs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::int64_t index = places_[place].live[i];
      const auto [known, is_new] = values_[run].try_emplace(index, outputs[i]);
      if (is_new || !differs.empty() || bit_equal(known->second, outputs[i])) continue;
      differs = fmt::format("value {} differs by {:.2g} from what it is at another cut",
                            model_.graph().values[static_cast<std::size_t>(index)].name,
                            pareto::relative_error(known->second, outputs[i]));
    }
    return differs;
  }

  /// Returns for each place why the way from the beginning to it is not equal; "": it is.
  std::vector<std::string> ways_to(std::size_t run) const {
    std::vector<std::string> ways(places_.size());
    std::vector<bool> is_known(places_.size(), false);
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      const auto& [from, to] = stretches_[i];
      const std::string& why = ways[from].empty() ? why_[i][run] : ways[from];
      if (!is_known[to] || why.empty()) ways[to] = why;
      is_known[to] = true;
    }
    return ways;
  }

  /// Returns the same of the way from each place to the end.
  std::vector<std::string> ways_from(std::size_t run) const {
    std::vector<std::string> ways(places_.size());
    std::vector<bool> is_known(places_.size(), false);
    for (std::size_t i = stretches_.size(); i > 0; --i) {
      const auto& [from, to] = stretches_[i - 1];
      const std::string& why = ways[to].empty() ? why_[i - 1][run] : ways[to];
      if (!is_known[from] || why.empty()) ways[from] = why;
      is_known[from] = true;
    }
    return ways;
  }

  std::vector<VerifyRow> rows() const {
    std::vector<VerifyRow> all(options_.cuts.size() * runs_.size());
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      const auto to = ways_to(run);
      const auto from = ways_from(run);
      for (std::size_t cut = 0; cut < options_.cuts.size(); ++cut) {
        VerifyRow& row = all[cut * runs_.size() + run];
        row.cut = cut;
        row.batch = runs_[run].batch;
        row.sizes = runs_[run].sizes;
        const std::size_t place = place_of_[cut];
        row.failure = to[place].empty() ? from[place] : to[place];
        row.bit_equal = row.failure.empty();
      }
    }
    return all;
  }

  const Model& model_;
  const VerifyOptions& options_;
  const std::vector<WholeRun> runs_;
  std::vector<Place> places_;
  std::vector<std::size_t> place_of_;  ///< place of each cut
  std::vector<Stretch> stretches_;     ///< shards, sorted by where they lead to
  std::map<std::int64_t, std::size_t> last_use_;
  std::vector<std::vector<std::string>> why_;  ///< differences by stretch and run; "": none
  std::mutex model_mutex_;
  std::mutex values_mutex_;
  std::vector<std::map<std::int64_t, Value>> values_;  ///< values between shards, by run
};

}  // namespace

Expected<std::vector<VerifyRow>> verify_together(
    const Model& model, const VerifyOptions& options,
    const std::function<void(std::size_t done, std::size_t total)>& on_shard) {
  if (options.runner.engine != "plain") {
    return fail(ErrorCode::kInvalidArgument,
                "engine {}: only the plain one computes the same bits in other shards",
                options.runner.engine);
  }
  if (draws_random_numbers(model.graph())) return verify(model, options, {});
  PARETO_ASSIGN(auto runs, with_context(whole_runs(model, options), "running the whole model"));
  return TogetherVerification(model, options, std::move(runs)).run(on_shard);
}

}  // namespace pareto::model
