// Results kept for the length of a test.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/results/store.h"

namespace pareto::client {

class MemoryStore final : public ResultStore {
 public:
  Expected<> check_writable() override { return {}; }
  Expected<> begin_run(const RunRecord&) override { return {}; }
  Expected<> put_trial(const RunRecord& run, const TrialRecord& trial) override {
    passes = run.passes;
    return keep(trial);
  }
  Expected<> put_trials(const std::string&, const std::vector<TrialRecord>& all) override {
    for (const TrialRecord& trial : all) PARETO_TRY(keep(trial));
    return {};
  }
  Expected<> update_run(const RunRecord& run) override {
    updated = run;
    return {};
  }
  Expected<RunRecord> load_run(const std::string&) override {
    return fail(ErrorCode::kNotFound, "none");
  }
  Expected<std::string> find_run(const std::string&) override {
    return fail(ErrorCode::kNotFound, "none");
  }
  Expected<std::vector<RunRecord>> list_runs() override { return std::vector<RunRecord>{}; }
  Expected<> remove_run(const std::string&) override { return fail(ErrorCode::kNotFound, "none"); }
  Expected<> tag_run(const std::string&, const std::string&) override {
    return fail(ErrorCode::kNotFound, "none");
  }
  Expected<> check_tag(const std::string&) override { return {}; }

  Expected<> put_profile(const std::string& key, const DeviceProfile& profile) override {
    profiles[key] = profile;
    return {};
  }
  Expected<std::optional<DeviceProfile>> find_profile(const std::string& key) override {
    const auto found = profiles.find(key);
    return found == profiles.end() ? std::nullopt : std::optional(found->second);
  }

  std::map<std::string, DeviceProfile> profiles;
  std::map<std::string, TrialRecord> trials;
  std::vector<PassRecord> passes;  ///< as of the last trial that was put
  std::optional<RunRecord> updated;
  std::size_t room = 100'000;  ///< trials that fit the disk

 private:
  Expected<> keep(const TrialRecord& trial) {
    if (trials.size() >= room) return fail(ErrorCode::kExhausted, "the disk is full");
    trials[trial.id] = trial;
    return {};
  }
};

}  // namespace pareto::client
