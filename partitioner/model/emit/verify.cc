#include "partitioner/model/emit/verify.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "core/base/text.h"
#include "partitioner/model/emit/emit.h"
#include "runtime/torch/threads.h"

namespace pareto::model {
namespace {

/// Cuts are shared out among a few threads; their rows are handed over in order.
///
/// Threads: run() from one; the workers are its own and end with it.
class Verification {
 public:
  Verification(const Model& model, const VerifyOptions& options, std::vector<WholeRun> references)
      : model_(model),
        options_(options),
        references_(std::move(references)),
        is_random_(draws_random_numbers(model.graph())),
        done_(options.cuts.size()) {}

  std::vector<VerifyRow> run(const std::function<void(const VerifyRow&)>& on_row) {
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    // The halves draw the random numbers that the whole model drew, if nobody else draws meanwhile:
    // neither another point's halves, nor engines that are tried while a shard is loaded.
    const auto workers =
        is_random_ ? 1
                   : std::clamp<std::size_t>(
                         cores / static_cast<unsigned>(std::max(1, options_.runner.threads)), 1, 8);
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::min(workers, options_.cuts.size()); ++i) {
      threads.emplace_back([this] { work(); });
    }
    std::vector<VerifyRow> all;
    for (std::size_t i = 0; i < options_.cuts.size(); ++i) {
      for (VerifyRow& row : wait_for(i)) {
        if (on_row) on_row(row);
        all.push_back(std::move(row));
      }
    }
    return all;
  }

 private:
  struct Halves {
    std::unique_ptr<runtime::ShardRunner> prefix;
    std::unique_ptr<runtime::ShardRunner> suffix;
  };

  void work() {
    for (std::size_t i = next_++; i < options_.cuts.size(); i = next_++) {
      auto rows = rows_of(i);
      const std::lock_guard lock(mutex_);
      done_[i] = std::move(rows);
      ready_.notify_one();
    }
  }

  std::vector<VerifyRow> wait_for(std::size_t index) {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return done_[index].has_value(); });
    return std::move(*done_[index]);
  }

  std::vector<VerifyRow> rows_of(std::size_t cut) {
    std::vector<VerifyRow> rows;
    const auto halves = load(options_.cuts[cut].before);
    for (const WholeRun& reference : references_) {
      VerifyRow row;
      row.cut = cut;
      row.batch = reference.batch;
      row.sizes = reference.sizes;
      if (const auto outputs = halves ? run_through(*halves, reference)
                                      : Expected<Value>(tl::unexpected(halves.error()))) {
        row.bit_equal = bit_equal(reference.outputs, *outputs);
        row.relative_error =
            row.bit_equal ? 0 : pareto::relative_error(reference.outputs, *outputs);
        if (!std::isfinite(row.relative_error)) {
          row.failure =
              "its outputs are infinitely far from the whole model's: not finite where those are, "
              "of another shape or type, other integers, or not zero where all of those are";
        } else if (row.relative_error > options_.most_error) {
          row.failure = fmt::format(
              "it is off by {:.2g} of the largest output; rounding explains at most {:g}",
              row.relative_error, options_.most_error);
        }
      } else {
        row.failure = outputs.error().message;
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  Expected<Halves> load(const plan::OperatorRanges& before) {
    const auto operators = static_cast<std::int64_t>(model_.graph().operators.size());
    std::vector<std::int64_t> behind;
    for (std::int64_t op = 0; op < operators; ++op) {
      if (!plan::holds(before, op)) behind.push_back(op);
    }
    Halves halves;
    PARETO_ASSIGN(halves.prefix, load(plan::ShardOperators{{}, before}));
    PARETO_ASSIGN(halves.suffix, load(plan::ShardOperators{before, plan::ranges_of(behind)}));
    return halves;
  }

  Expected<std::unique_ptr<runtime::ShardRunner>> load(const plan::ShardOperators& operators) {
    const auto emit = [&] {
      const std::lock_guard lock(model_mutex_);
      return emit_shard(model_, operators);
    };
    PARETO_ASSIGN(const plan::Shard shard, emit());
    const auto weights = [this](const Digest& digest) {
      const std::lock_guard lock(model_mutex_);
      return model_.weight(digest);
    };
    return runtime::ShardRunner::load(shard, weights, options_.runner);
  }

  Expected<Value> run_through(const Halves& halves, const WholeRun& reference) {
    if (is_random_) runtime::seed_random_numbers(options_.seed);
    PARETO_ASSIGN(auto between, with_context(halves.prefix->run(reference.inputs), "prefix"));
    PARETO_ASSIGN(auto outputs, with_context(halves.suffix->run(std::move(between)), "suffix"));
    return Value(List{std::move(outputs)});
  }

  const Model& model_;
  const VerifyOptions& options_;
  const std::vector<WholeRun> references_;
  const bool is_random_;
  std::mutex model_mutex_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<std::optional<std::vector<VerifyRow>>> done_;
};

/// Returns the sizes of its inputs that a model is run at: as it was opened, and the least.
std::vector<std::vector<std::int64_t>> sizes_to_verify(const Model& model) {
  std::vector<std::vector<std::int64_t>> all{nominal_sizes(model.inputs())};
  std::vector<std::int64_t> least;
  for (const VaryingSize& size : model.graph().sizes) least.push_back(size.least);
  if (least != all.front()) all.push_back(std::move(least));
  return all;
}

}  // namespace

Expected<std::vector<WholeRun>> whole_runs(const Model& model, const VerifyOptions& options) {
  // Sums may be split otherwise among another number of threads.
  runtime::set_thread_count(options.runner.threads);
  std::vector<WholeRun> result;
  for (const std::int64_t batch : options.batches) {
    for (const auto& sizes : sizes_to_verify(model)) {
      PARETO_ASSIGN(auto inputs, model.example_inputs(batch, options.seed, sizes));
      runtime::seed_random_numbers(options.seed);
      PARETO_ASSIGN(auto outputs, with_context(model.run_whole(inputs), "batch {}", batch));
      result.push_back({batch, sizes_text(model.graph().sizes, sizes), std::move(inputs),
                        List{std::move(outputs)}});
    }
  }
  return result;
}

Expected<std::vector<VerifyRow>> verify(const Model& model, const VerifyOptions& options,
                                        const std::function<void(const VerifyRow&)>& on_row) {
  PARETO_ASSIGN(auto whole, with_context(whole_runs(model, options), "running the whole model"));
  return Verification(model, options, std::move(whole)).run(on_row);
}

}  // namespace pareto::model
