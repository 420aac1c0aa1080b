// Compares two plans by a handful of rounds: the ratio of their figures with an interval, and a
// verdict.
//
//   RoundFigure … of two trials --paired_ratio, unpaired_ratio--> Ratio --judge--> Verdict
//
// Intervals are those of statistics_rounds.h. Two plans are different if one of their two figures
// is. Each figure is judged at 97.5 % (Bonferroni), so that both together are wrong in at most one
// of twenty comparisons of equal plans. Real runs may be wrong a little more often than simulated
// ones. Rounds of one run share a state of the machine that the next run does not.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "coordinator/results/record.h"
#include "coordinator/statistics/statistics_rounds.h"
#include "partitioner/planning/objective/objective.h"

namespace pareto::statistics {

/// The ratio of b's figure to a's.
struct Ratio {
  double value = 1;
  std::optional<results::Interval>
      ci975{};  ///< no value means that one round, or none, says nothing about the next
  std::optional<results::Interval> ci90{};
  double a = 0;  ///< geometric mean of the rounds compared; `value` is b / a
  double b = 0;
  int rounds_a = 0;  ///< those compared; where they are paired, as many of b
  int rounds_b = 0;
  bool paired = false;
};

/// Compares two plans of one run: takes the ratio in every round that both have. What a round did
/// to both cancels.
Ratio paired_ratio(std::span<const RoundFigure> a, std::span<const RoundFigure> b);
/// Compares two runs, whose rounds have nothing to do with each other, by Welch's interval (1947),
/// which lets one run be noisier than the other. What differs between runs, and not between the
/// rounds of one, is not in it: see allow_for.
Ratio unpaired_ratio(std::span<const RoundFigure> a, std::span<const RoundFigure> b);

/// Intervals stretched to hold the ratio both as it is and times `factor` > 0: where something else
/// may have made it that different.
Ratio allow_for(Ratio ratio, double factor);

/// The verdict on b against a.
enum class Verdict { kFaster, kSlower, kSame, kCannotTell };
std::string_view to_string(Verdict verdict);  ///< "faster", "slower", "same", "can't tell"

/// Judges a ratio. Same: the 90 % interval lies within [1/(1+t), 1+t], which is two one-sided tests
/// at 5 % (Schuirmann 1987). Else faster or slower: the 97.5 % interval excludes 1; whether larger
/// is faster, the direction says. `tolerance` >= 0; at 0 nothing is the same.
Verdict judge(const Ratio& ratio, planning::Direction direction, double tolerance);
/// Returns whether it is slower, and the whole 97.5 % interval is worse than the tolerance.
bool is_regression(const Ratio& ratio, planning::Direction direction, double tolerance);

}  // namespace pareto::statistics
