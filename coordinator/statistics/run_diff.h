// Differences between two runs, or between two plans within a run, plan by plan.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/results/record.h"
#include "coordinator/statistics/statistics_comparison.h"
#include "core/base/error.h"

namespace pareto::statistics {

/// One figure of one plan in A and in B.
struct FigureDiff {
  double a = 0;  ///< figure as the run shows it
  double b = 0;
  int window_a = 1;
  int window_b = 1;
  /// Ratio that is judged. For compared rounds it is the ratio of their geometric means, `ratio.a`
  /// and `ratio.b`. An adaptive sweep believes predictions too; for it the ratio is b / a.
  Ratio ratio{};
  Verdict verdict = Verdict::kCannotTell;
  bool regressed = false;
};

/// The word for a plan: the first of these that is true of one of its two figures.
enum class Change { kRegressed, kSlower, kFaster, kCannotTell, kSame };
std::string_view to_string(Change change);

struct PlanDiff {
  const results::TrialRecord* a = nullptr;
  const results::TrialRecord* b = nullptr;
  FigureDiff latency{};     ///< p50 in ms
  FigureDiff throughput{};  ///< samples/s
  Change change = Change::kCannotTell;
};

/// A plan that has figures on one side only.
struct LonePlan {
  const results::TrialRecord* trial = nullptr;
  /// The reason why it has none on the other side; empty: it is not there, or was not measured.
  std::string failure;
};

/// Points into the records it was made from, which live longer.
struct RunDiff {
  double tolerance = 0;
  /// Ratio for two runs: how many times longer the fixed loop, which only computes, took in B.
  Ratio machine{};
  std::vector<std::string> warnings{};  ///< other differences between the runs
  /// Regressions first, then other changes for the worse, then for the better, then what cannot be
  /// told, then what is the same; by how much within each.
  std::vector<PlanDiff> plans{};
  std::vector<LonePlan> only_in_a{};
  std::vector<LonePlan> only_in_b{};

  std::size_t count(Change change) const;
  /// Returns the number of plans that regressed, and of those measured in A that failed in B.
  std::size_t regressions() const;
};

/// Compares every plan that both runs have. Rounds are not paired. A machine that was faster or
/// slower in one run is no change of a plan. So intervals are stretched by how much longer its loop
/// took: a plan must have changed with and without it.
/// Fails: as compare_settings; kInvalidArgument (no plan is in both).
Expected<RunDiff> diff_runs(const results::RunRecord& a, const results::RunRecord& b,
                            double tolerance);

/// Compares trial `id_b` with `id_a` of one run, whose rounds are paired. Fails: kNotFound with the
/// nearest id; kInvalidArgument where one was not measured.
Expected<RunDiff> diff_trials(const results::RunRecord& run, const std::string& id_a,
                              const std::string& id_b, double tolerance);

}  // namespace pareto::statistics
