#include "coordinator/sweep/trial_queue.h"

#include <algorithm>

namespace pareto::sweep {

TrialQueue::TrialQueue(std::vector<results::TrialRecord>& trials, const std::vector<bool>& wanted)
    : trials_(trials) {
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    results::TrialRecord& trial = trials_[i];
    Entry& entry = entries_.emplace_back(Entry{State::kUnwanted, trial.status, trial.failure});
    if (trial.no_room) {
      // Trying it would unload what other plans need.
      entry.state = State::kOut;
      ++failed_;
    } else if (trial.status == results::TrialStatus::kRefused) {
      // The same samples would be answered the same way.
      entry.state = State::kOut;
    } else if (wanted[i]) {
      entry.state = State::kWaiting;
      trial.status = results::TrialStatus::kOk;
      trial.failure.clear();
    }
  }
}

std::vector<std::size_t> TrialQueue::waiting() const {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].state == State::kWaiting) places.push_back(i);
  }
  return places;
}

bool TrialQueue::is_exhausted() const {
  return std::ranges::none_of(entries_, [](const Entry& entry) {
    return entry.state == State::kWaiting || entry.state == State::kTried;
  });
}

void TrialQueue::fail(std::size_t place, const Error& error) {
  entries_[place].state = State::kOut;
  trials_[place].status = results::TrialStatus::kFailed;
  trials_[place].failure = error.message;
  ++failed_;
}

TrialQueue::Skipped TrialQueue::skip(const std::string& condition, const Error& error) {
  Skipped skipped;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    results::TrialRecord& trial = trials_[i];
    const State state = entries_[i].state;
    if (state == State::kUnwanted || state == State::kOut || trial.condition != condition) continue;
    entries_[i].state = State::kOut;
    ++skipped.plans;
    if (!trial.rounds.empty()) continue;
    trial.status = results::TrialStatus::kSkipped;
    trial.failure = error.message;
    skipped.records.push_back(trial);
  }
  skipped_ += skipped.records.size();
  return skipped;
}

bool TrialQueue::restore_failures() {
  bool any = false;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.state != State::kWaiting || entry.earlier_status == results::TrialStatus::kOk) {
      continue;
    }
    any = true;
    trials_[i].status = entry.earlier_status;
    trials_[i].failure = entry.earlier_failure;
  }
  return any;
}

std::size_t TrialQueue::measured() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      trials_, [](const results::TrialRecord& trial) { return !trial.rounds.empty(); }));
}

}  // namespace pareto::sweep
