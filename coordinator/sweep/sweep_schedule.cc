#include "coordinator/sweep/sweep_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "coordinator/statistics/front.h"
#include "coordinator/statistics/round_noise.h"
#include "coordinator/statistics/statistics.h"
#include "coordinator/sweep/race_schedule.h"
#include "coordinator/sweep/reference_reading.h"

namespace pareto::sweep {
namespace {

/// Returns whether all trials of that round were measured in one go. The last pass of the round
/// tells: it may have been measured again in part.
bool is_whole(const results::RunRecord& run, int round) {
  const auto last =
      std::ranges::find(run.passes.rbegin(), run.passes.rend(), round, &results::PassRecord::round);
  return last != run.passes.rend() && last->whole;
}

bool has_round(const results::TrialRecord& trial, int round) {
  return std::ranges::find(trial.rounds, round, &results::TrialRound::round) != trial.rounds.end();
}

std::vector<Pass> passes_left(const results::RunRecord& run, int rounds) {
  std::vector<Pass> passes;
  std::vector<std::ptrdiff_t> has;  // rounds that each trial will have
  for (const results::TrialRecord& trial : run.trials) has.push_back(std::ssize(trial.rounds));
  for (int round = 0; round < rounds; ++round) {
    if (is_whole(run, round)) continue;
    Pass pass{round, false, {}, fmt::format("round {}/{}", round + 1, rounds)};
    for (std::size_t i = 0; i < has.size(); ++i) {
      pass.trials.push_back(i);
      if (!has_round(run.trials[i], round)) ++has[i];
    }
    passes.push_back(std::move(pass));
  }
  if (passes.empty()) {
    // One that failed when a round was measured again may have all of them.
    for (std::size_t i = 0; i < has.size(); ++i) {
      if (run.trials[i].status != results::TrialStatus::kOk) {
        has[i] = std::min<std::ptrdiff_t>(has[i], rounds - 1);
      }
    }
  }
  for (int round = unused_round(run, rounds);; ++round) {
    Pass late{round, false, {}, fmt::format("late round {}", round + 1)};
    for (std::size_t i = 0; i < has.size(); ++i) {
      if (has[i] >= rounds) continue;
      late.trials.push_back(i);
      ++has[i];
    }
    if (late.trials.empty()) return passes;
    passes.push_back(std::move(late));
  }
}

class ExhaustiveSchedule final : public SweepSchedule {
 public:
  ExhaustiveSchedule(const results::RunRecord& run, int rounds)
      : rounds_(rounds), planned_(passes_left(run, rounds)), earlier_passes_(run.passes.size()) {}

  std::optional<Pass> next(results::RunRecord& run) override {
    if (next_ < planned_.size()) return planned_[next_++];
    if (!again_) {
      // Passes of an earlier part of the run may have seen another machine.
      const auto first = run.passes.begin() + static_cast<std::ptrdiff_t>(earlier_passes_);
      again_ = disturbed_rounds({first, run.passes.end()});
    }
    if (again_->empty()) return std::nullopt;
    Pass pass = *std::ranges::find(planned_, again_->front(), &Pass::round);
    again_->erase(again_->begin());
    pass.repeat = true;
    return pass;
  }

  std::vector<Pass> planned() const override { return planned_; }

  void mark(results::RunRecord& run) override {
    statistics::settle_by_rounds(run.trials, run.seed);
  }

  std::string describe(const results::RunRecord& run, const std::string& reference) const override {
    std::string rules = fmt::format(
        "Trials are measured in {} rounds, each in a random order of its own. If the sweep was "
        "stopped in a round, all trials measure that round again. ",
        rounds_);
    if (!reference.empty()) {
      rules += describe_reference(reference) + " " + describe_repeats(run.passes) + " ";
    }
    return rules + fmt::format(
                       "The probability to be on the front is the share of bootstrap resamples of "
                       "rounds, and of blocks within them, in which no other plan is better by "
                       "more than {:.0f} %. {}",
                       100 * results::kFrontTolerance, statistics::kIntervalRules);
  }

 private:
  const int rounds_;
  const std::vector<Pass> planned_;
  const std::size_t earlier_passes_;
  std::size_t next_ = 0;
  std::optional<std::vector<int>> again_;
};

}  // namespace

int unused_round(const results::RunRecord& run, int least) {
  int next = least;
  for (const results::PassRecord& pass : run.passes) next = std::max(next, pass.round + 1);
  for (const results::TrialRecord& trial : run.trials) {
    for (const results::TrialRound& round : trial.rounds) next = std::max(next, round.round + 1);
  }
  return next;
}

std::unique_ptr<SweepSchedule> make_exhaustive_schedule(const results::RunRecord& run, int rounds) {
  return std::make_unique<ExhaustiveSchedule>(run, rounds);
}

std::unique_ptr<SweepSchedule> make_schedule(const results::RunRecord& run,
                                             const SweepOptions& options) {
  if (options.adaptive) return make_race_schedule(run, options);
  return make_exhaustive_schedule(run, options.rounds);
}

}  // namespace pareto::sweep
