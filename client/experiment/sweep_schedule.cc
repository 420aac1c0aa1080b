#include "client/experiment/sweep_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/experiment/race_schedule.h"
#include "client/experiment/sentinel.h"

namespace pareto::client {
namespace {

class ExhaustiveSchedule final : public SweepSchedule {
 public:
  ExhaustiveSchedule(const RunRecord& run, int rounds)
      : rounds_(rounds), earlier_passes_(run.passes.size()) {
    for (std::size_t i = 0; i < run.trials.size(); ++i) {
      if (!is_complete(run.trials[i], rounds)) trials_.push_back(i);
    }
  }

  std::optional<Pass> next(RunRecord& run) override {
    while (round_ < rounds_) {
      Pass pass{round_, false, {}, fmt::format("round {}/{}", round_ + 1, rounds_)};
      for (const std::size_t i : trials_) {
        if (std::ranges::count(run.trials[i].rounds, round_, &TrialRound::round) == 0) {
          pass.trials.push_back(i);
        }
      }
      ++round_;
      if (!pass.trials.empty()) return pass;
    }
    if (!again_) {
      // Passes of an earlier part of the run may have seen another machine.
      const auto first = run.passes.begin() + static_cast<std::ptrdiff_t>(earlier_passes_);
      again_ = disturbed_rounds({first, run.passes.end()});
    }
    if (again_->empty() || trials_.empty()) return std::nullopt;
    const int round = again_->front();
    again_->erase(again_->begin());
    return Pass{round, true, trials_, fmt::format("round {}/{}", round + 1, rounds_)};
  }

 private:
  const int rounds_;
  const std::size_t earlier_passes_;
  std::vector<std::size_t> trials_;
  int round_ = 0;
  std::optional<std::vector<int>> again_;
};

}  // namespace

bool is_complete(const TrialRecord& trial, int rounds) {
  return trial.status == TrialStatus::kOk && std::ssize(trial.rounds) >= rounds;
}

std::unique_ptr<SweepSchedule> make_exhaustive_schedule(const RunRecord& run, int rounds) {
  return std::make_unique<ExhaustiveSchedule>(run, rounds);
}

std::unique_ptr<SweepSchedule> make_schedule(const RunRecord& run, const SweepOptions& options) {
  if (options.adaptive) return make_race_schedule(run, options);
  return make_exhaustive_schedule(run, options.rounds);
}

}  // namespace pareto::client
