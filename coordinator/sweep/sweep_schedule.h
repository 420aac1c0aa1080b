// Which trials of a sweep get a round next, pass by pass.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/results/record.h"
#include "coordinator/sweep/sweep.h"

namespace pareto::sweep {

/// One pass: each of these trials once, in random order; without a budget those of one condition one after the other.
struct Pass {
  int round = 0;  ///< number of the round that it measures
  bool repeat = false;
  std::vector<std::size_t> trials;  ///< places in RunRecord::trials
  std::string phase{};  ///< "round 2/3": for progress; empty: it counts the plans measured
};

/// Threads: one owner.
class SweepSchedule {
 public:
  virtual ~SweepSchedule() = default;
  /// After the one before was measured, or could not be; failed trials are marked as such. None: the sweep is over.
  virtual std::optional<Pass> next(results::RunRecord& run) = 0;
  /// Those that are known before the first of them; none where each makes the next one.
  virtual std::vector<Pass> planned() const { return {}; }
  /// Seconds of measuring after which no unit is begun any more; none: all passes are measured whatever they take.
  virtual std::optional<double> budget_s() const { return std::nullopt; }
  /// No trial of this condition can be measured any more, those that were are left as they are.
  virtual void refuse(const std::string& /*condition*/) {}
  /// Settles the figures that are shown, on_front and p_front of all trials (front.h), by what is
  /// measured so far.
  virtual void mark(results::RunRecord& run) = 0;
  /// Its rules in words, for the report: of rounds, of the sentinel and of the front. `sentinel`: the id of its plan; empty: there is none.
  virtual std::string describe(const results::RunRecord& run,
                               const std::string& sentinel) const = 0;
};

/// All rounds of all trials; then rounds that the machine disturbed once more (coordinator/sweep/sentinel.h).
///
/// A round is one state of the machine that all its trials have seen: they are compared within it (statistics_comparison.h) and drawn by it
/// (front_probability). Two halves of a round on two days are two states under one name. So when a run goes on,
///  - a round that it was in when it stopped is measured again by all trials. That costs one round at most; two rounds in common instead of
///    three would cost more, as they make the intervals of what is compared several times as wide;
///  - what trials lack of rounds that were measured to their end (their device was lost) they get in rounds of their own, with numbers of
///    their own. In the others' they could only be with all trials once more, which may be the whole sweep.
///  - a trial that fails there keeps its old round under a number of its own (unused_round).
std::unique_ptr<SweepSchedule> make_exhaustive_schedule(const results::RunRecord& run, int rounds);

/// The first number from `least` on that no round of the run has.
int unused_round(const results::RunRecord& run, int least);

/// As options.adaptive says.
std::unique_ptr<SweepSchedule> make_schedule(const results::RunRecord& run,
                                             const SweepOptions& options);

}  // namespace pareto::sweep
