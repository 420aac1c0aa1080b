#include "coordinator/sweep/trial_rounds.h"

#include <algorithm>
#include <utility>

namespace pareto::sweep {
namespace {

results::TrialRound* find_round(results::TrialRecord& trial, int round) {
  const auto found = std::ranges::find(trial.rounds, round, &results::TrialRound::round);
  return found == trial.rounds.end() ? nullptr : &*found;
}

}  // namespace

void put_round(results::TrialRecord& trial, results::TrialRound measured) {
  if (results::TrialRound* const old = find_round(trial, measured.round)) {
    *old = std::move(measured);
    return;
  }
  trial.rounds.push_back(std::move(measured));
  std::ranges::sort(trial.rounds, {}, &results::TrialRound::round);
}

void renumber_round(results::TrialRecord& trial, int from, int to) {
  results::TrialRound* const old = find_round(trial, from);
  if (old == nullptr) return;
  old->round = to;
  std::ranges::sort(trial.rounds, {}, &results::TrialRound::round);
}

}  // namespace pareto::sweep
