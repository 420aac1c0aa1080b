// Words for the probability of being on the front, if it rests on few rounds.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "coordinator/results/record.h"

namespace pareto::results {

/// Fewer rounds than these make nothing certain.
inline constexpr std::size_t kRoundsForCertainty = 6;
/// The lowest probability that few rounds can show; the highest is 1 less this. An adaptive sweep
/// calls a plan decided there.
inline constexpr double kLeastChance = 0.05;

inline bool has_few_rounds(const TrialRecord& trial) {
  return trial.rounds.size() < kRoundsForCertainty;
}

/// Returns the probability as it is kept, in TrialRecord::p_front: of few rounds, within
/// [kLeastChance, 1 - kLeastChance].
inline double kept_chance(const TrialRecord& trial, double probability) {
  return has_few_rounds(trial) ? std::clamp(probability, kLeastChance, 1 - kLeastChance)
                               : std::clamp(probability, 0.0, 1.0);
}

/// Returns how many plans of an adaptive sweep are neither sure to be on the front nor sure not to.
inline std::size_t undecided(const RunRecord& run) {
  return static_cast<std::size_t>(std::ranges::count_if(run.trials, [](const TrialRecord& trial) {
    if (trial.status != TrialStatus::kOk) return false;
    return trial.p_front == kUnsettled ||
           (trial.p_front > kLeastChance && trial.p_front < 1 - kLeastChance);
  }));
}

/// Returns the probability as it is printed: "0.42"; of few rounds "> 0.9" and "< 0.1" beyond
/// those; "-" if it is unsettled.
inline std::string chance_text(const TrialRecord& trial) {
  if (trial.p_front == kUnsettled) return "-";
  if (has_few_rounds(trial) && trial.p_front > 0.9) return "> 0.9";
  if (has_few_rounds(trial) && trial.p_front < 0.1) return "< 0.1";
  return fmt::format("{:.2f}", trial.p_front);
}

}  // namespace pareto::results
