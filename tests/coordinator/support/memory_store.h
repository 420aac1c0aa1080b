// Results kept for the length of a test.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/results/store.h"

namespace pareto::test {

class MemoryStore final : public results::ResultStore {
 public:
  Expected<> check_writable() override { return {}; }
  Expected<> begin_run(const results::RunRecord&) override { return {}; }
  Expected<> put_trial(const results::RunRecord& run, const results::TrialRecord& trial) override {
    passes = run.passes;
    return keep(trial);
  }
  Expected<> put_trials(const std::string&, const std::vector<results::TrialRecord>& all) override {
    for (const results::TrialRecord& trial : all) PARETO_TRY(keep(trial));
    return {};
  }
  Expected<> update_run(const results::RunRecord& run) override {
    updated = run;
    return {};
  }
  Expected<results::RunRecord> load_run(const std::string&) override {
    return fail(ErrorCode::kNotFound, "none");
  }
  Expected<std::string> find_run(const std::string&) override {
    return fail(ErrorCode::kNotFound, "none");
  }
  Expected<std::vector<results::RunRecord>> list_runs() override {
    return std::vector<results::RunRecord>{};
  }
  Expected<> remove_run(const std::string&) override { return fail(ErrorCode::kNotFound, "none"); }
  Expected<> tag_run(const std::string&, const std::string&) override {
    return fail(ErrorCode::kNotFound, "none");
  }
  Expected<> check_tag(const std::string&) override { return {}; }

  Expected<> put_profile(const std::string& key, const plan::DeviceProfile& profile) override {
    profiles[key] = profile;
    return {};
  }
  Expected<std::optional<plan::DeviceProfile>> find_profile(const std::string& key) override {
    const auto found = profiles.find(key);
    return found == profiles.end() ? std::nullopt : std::optional(found->second);
  }

  Expected<std::vector<plan::DeviceProfile>> profiles_of(const std::string& model_digest) override {
    std::vector<plan::DeviceProfile> found;
    for (const auto& [key, profile] : profiles) {
      if (profile.model_digest == model_digest) found.push_back(profile);
    }
    return found;
  }

  std::map<std::string, plan::DeviceProfile> profiles;
  std::map<std::string, results::TrialRecord> trials;
  std::vector<results::PassRecord> passes;  ///< passes as of the last trial that was put
  std::optional<results::RunRecord> updated;
  std::size_t room = 100'000;  ///< trials that fit the disk

 private:
  Expected<> keep(const results::TrialRecord& trial) {
    if (trials.size() >= room) return fail(ErrorCode::kExhausted, "the disk is full");
    trials[trial.id] = trial;
    return {};
  }
};

}  // namespace pareto::test
