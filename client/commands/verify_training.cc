#include "client/commands/verify_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <span>
#include <thread>
#include <utility>

#include "client/commands/progress.h"
#include "client/commands/validation.h"
#include "coordinator/sweep/cut_chains.h"
#include "coordinator/train/training_replay.h"

namespace pareto::client::commands {
namespace {

using Chain = std::span<const std::size_t>;

class TrainingVerifier {
 public:
  TrainingVerifier(Context& context, const model::Model& model, const model::Model& loss,
                   const std::vector<model::Cut>& cuts, int threads)
      : model_(model),
        loss_(loss),
        cuts_(cuts),
        threads_(threads),
        progress_(context.err, context.err_is_terminal ? context.columns : 0) {}

  /// Returns why the whole model cannot be trained at that batch, or its rows.
  Expected<std::vector<TrainedRow>> run(std::int64_t batch) {
    batch_ = batch;
    done_ = 0;
    rows_.assign(cuts_.size(), {});
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] = {i, batch, {}};
    PARETO_ASSIGN(whole_, replay({}));
    for (const std::vector<std::size_t>& chain : chains_of(cuts_)) compare(chain);
    progress_.clear();
    return rows_;
  }

 private:
  /// The number of threads that trainers set is that of their own thread.
  Expected<train::ReplayedStep> replay(Chain chain) const {
    std::vector<model::Cut> cuts;
    std::vector<std::string> devices;
    for (const std::size_t cut : chain) cuts.push_back(cuts_[cut]);
    for (std::size_t i = 0; i <= cuts.size(); ++i) devices.push_back(fmt::format("stage {}", i));
    PARETO_ASSIGN(const plan::Plan plan, sweep::plan_of_cuts(model_, cuts, devices, batch_, {}));
    Expected<train::ReplayedStep> step;
    std::jthread([&] { step = train::replay_step(model_, loss_, plan, threads_); }).join();
    return step;
  }

  /// Compares the cuts of a chain, as one pipeline if that has the whole model's bits.
  void compare(Chain chain) {
    const std::string now = fmt::format("training with {}", cuts_[chain.front()].name);
    progress_.show(done_, cuts_.size(), fmt::format("training at batch {}", batch_), now);
    const auto step = replay(chain);
    const std::string difference =
        step ? train::first_difference(whole_, *step) : step.error().message;
    if (difference.empty() || chain.size() == 1) {
      for (const std::size_t cut : chain) rows_[cut].difference = difference;
      done_ += chain.size();
      return;
    }
    compare(chain.first(chain.size() / 2));
    compare(chain.subspan(chain.size() / 2));
  }

  const model::Model& model_;
  const model::Model& loss_;
  const std::vector<model::Cut>& cuts_;
  const int threads_;
  Progress progress_;
  std::int64_t batch_ = 1;
  std::size_t done_ = 0;
  train::ReplayedStep whole_;
  std::vector<TrainedRow> rows_;
};

}  // namespace

std::vector<std::vector<std::size_t>> chains_of(const std::vector<model::Cut>& cuts) {
  std::vector<std::vector<std::size_t>> chains;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const auto fits = std::ranges::find_if(chains, [&](const std::vector<std::size_t>& chain) {
      return sweep::lies_behind(cuts[i], cuts[chain.back()]);
    });
    if (fits == chains.end()) {
      chains.push_back({i});
    } else {
      fits->push_back(i);
    }
  }
  return chains;
}

Expected<std::vector<TrainedRow>> verify_training(Context& context, const model::Model& model,
                                                  const std::vector<model::Cut>& cuts,
                                                  const std::vector<std::int64_t>& batches,
                                                  int threads) {
  PARETO_ASSIGN(const model::Model loss, with_context(open_any_loss(model), "--trainable"));
  TrainingVerifier verifier(context, model, loss, cuts, threads);
  std::vector<TrainedRow> all;
  std::string why;
  for (const std::int64_t batch : batches) {
    auto rows = verifier.run(batch);
    if (rows) {
      all.insert(all.end(), rows->begin(), rows->end());
      continue;
    }
    why = fmt::format("not compared in training at batch {}: {}", batch, rows.error().message);
    context.err << why << std::endl;
  }
  if (all.empty()) return fail(ErrorCode::kInvalidArgument, "--trainable: {}", why);
  return all;
}

}  // namespace pareto::client::commands
