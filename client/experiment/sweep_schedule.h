// Which trials of a sweep get a round next, pass by pass.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/experiment/sweep.h"
#include "client/results/record.h"

namespace pareto::client {

/// One pass: each of these trials once, in random order; without a budget those of one condition one after the other.
struct Pass {
  int round = 0;  ///< number of the round that it measures
  bool repeat = false;
  std::vector<std::size_t> trials;  ///< places in RunRecord::trials
  std::string phase;                ///< "round 2/3": for progress
};

/// Threads: one owner.
class SweepSchedule {
 public:
  virtual ~SweepSchedule() = default;
  /// After the one before was measured, or could not be; failed trials are marked as such. None: the sweep is over.
  virtual std::optional<Pass> next(RunRecord& run) = 0;
  /// Seconds of measuring after which no unit is begun any more; none: all passes are measured whatever they take.
  virtual std::optional<double> budget_s() const { return std::nullopt; }
  /// After the front was marked as of a sweep that measures everything.
  virtual void mark(RunRecord& /*run*/) {}
  /// Its rules in words, for the report.
  virtual std::string describe() const { return {}; }
};

/// All rounds of the trials that lack some of them; then rounds that the machine disturbed once more (client/experiment/sentinel.h).
std::unique_ptr<SweepSchedule> make_exhaustive_schedule(const RunRecord& run, int rounds);

/// As options.adaptive says.
std::unique_ptr<SweepSchedule> make_schedule(const RunRecord& run, const SweepOptions& options);

/// Whether a trial has all its rounds; a failed one has not.
bool is_complete(const TrialRecord& trial, int rounds);

}  // namespace pareto::client
