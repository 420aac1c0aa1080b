// Chooses the trials of a sweep that get a round next, pass by pass.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/results/record.h"
#include "coordinator/sweep/sweep.h"

namespace pareto::sweep {

/// One pass: each of these trials once, in random order. Without a budget, trials of one condition
/// follow each other.
struct Pass {
  int round = 0;  ///< the number of the round that is measured
  bool repeat = false;
  std::vector<std::size_t> trials;  ///< places in RunRecord::trials
  std::string phase{};  ///< "round 2/3": what progress says; empty: the number of plans measured
};

/// An order of passes; each is a list of trials that get one round.
///
/// Threads: one owner.
class SweepSchedule {
 public:
  virtual ~SweepSchedule() = default;
  /// Returns the next pass, once the one before was measured or could not be. Trials that failed
  /// are marked as failed. No value means that the sweep is over.
  virtual std::optional<Pass> next(results::RunRecord& run) = 0;
  /// Returns the passes that are known before the first of them; empty if each makes the next one.
  virtual std::vector<Pass> planned() const { return {}; }
  /// Returns the seconds of measuring after which no unit begins any more. No value means that all
  /// passes are measured, whatever time they take.
  virtual std::optional<double> budget_s() const { return std::nullopt; }
  /// Rules out the trials of a condition: none of them can be measured any more. Those that were
  /// measured are left as they are.
  virtual void refuse(const std::string& /*condition*/) {}
  /// Settles the figures that are shown, on_front and p_front of all trials (front.h), by what is
  /// measured so far.
  virtual void mark(results::RunRecord& run) = 0;
  /// Returns its rules in words, for the report: of rounds, of the reference plan and of the front.
  /// `reference`: the id of the reference plan; empty: there is no such plan.
  virtual std::string describe(const results::RunRecord& run,
                               const std::string& reference) const = 0;
};

/// Makes the schedule of all rounds of all trials; then the rounds that the machine disturbed come
/// once more (coordinator/sweep/reference_reading.h).
///
/// A round is one state of the machine that all its trials have seen. Trials are compared within it
/// (statistics_comparison.h) and drawn by it (front_probability). Two halves of a round on two days
/// are two states under one name. So when a run goes on:
///
/// | a trial …                                  | then                                         |
/// |--------------------------------------------|----------------------------------------------|
/// | is of the round in which the run stopped   | all trials measure that round again          |
/// | lacks a round that was measured to its end | it gets a late round with a number of its own |
/// | fails when it is measured again            | its old round gets a number of its own       |
///
/// The first costs one round at most. Two rounds in common instead of three would cost more: the
/// intervals of what is compared would be several times as wide. The second is for trials whose
/// device was lost. To measure them in the others' round would take all trials once more.
std::unique_ptr<SweepSchedule> make_exhaustive_schedule(const results::RunRecord& run, int rounds);

/// Returns the first number from `least` on that no round of the run has.
int unused_round(const results::RunRecord& run, int least);

/// Makes an exhaustive schedule or, if options.adaptive, a race (race_schedule.h).
std::unique_ptr<SweepSchedule> make_schedule(const results::RunRecord& run,
                                             const SweepOptions& options);

}  // namespace pareto::sweep
