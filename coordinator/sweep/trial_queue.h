// The trials of a run while they are measured: which of them wait, and which are out.
//
//   waiting ──begin()──▶ tried ──fail(), skip()──▶ out
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coordinator/results/record.h"
#include "core/base/error.h"

namespace pareto::sweep {

/// Trials are named by their places in the run.
///
/// Threads: one owner. The trials outlive it, and stay where they are.
class TrialQueue {
 public:
  /// `wanted`: by place, whether the trial is to be measured. Failures of an earlier part of the
  /// run are taken off wanted trials. A trial that a device has no room for is out, and so is one
  /// that was refused.
  TrialQueue(std::vector<results::TrialRecord>& trials, const std::vector<bool>& wanted);

  results::TrialRecord& trial(std::size_t place) const { return trials_[place]; }
  std::size_t size() const { return trials_.size(); }
  /// Returns the places of trials that are wanted and were not tried, in their order.
  std::vector<std::size_t> waiting() const;
  /// Returns whether the trial failed, was skipped or refused. It is then not measured any more.
  bool is_out(std::size_t place) const { return entries_[place].state == State::kOut; }
  /// Returns whether no wanted trial can be measured any more.
  bool is_exhausted() const;

  /// Marks a trial as tried.
  void begin(std::size_t place) { entries_[place].state = State::kTried; }
  /// Records why a trial failed. It is out.
  void fail(std::size_t place, const Error& error);
  /// Puts a trial out whose accuracy is too low; its record says so.
  void refuse(std::size_t place) { entries_[place].state = State::kOut; }
  struct Skipped {
    std::size_t plans = 0;                      ///< put out by this call
    std::vector<results::TrialRecord> records;  ///< those without a round: they were skipped
  };
  /// Puts all wanted trials of a condition out. Those that have rounds keep what was measured.
  Skipped skip(const std::string& condition, const Error& error);
  /// Gives wanted trials that were not tried the failure back that they had in an earlier part of
  /// the run. Returns whether there are any.
  bool restore_failures();

  std::size_t failed() const { return failed_; }
  std::size_t skipped() const { return skipped_; }
  /// Returns the number of trials that have a round at least.
  std::size_t measured() const;

 private:
  enum class State { kUnwanted, kWaiting, kTried, kOut };
  struct Entry {
    State state = State::kUnwanted;
    results::TrialStatus earlier_status = results::TrialStatus::kOk;
    std::string earlier_failure{};
  };

  std::vector<results::TrialRecord>& trials_;
  std::vector<Entry> entries_;
  std::size_t failed_ = 0;
  std::size_t skipped_ = 0;
};

}  // namespace pareto::sweep
