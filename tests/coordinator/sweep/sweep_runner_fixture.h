// A sweep of made-up trials on two devices and a network, all within the test.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/sweep/sweep_runner.h"
#include "tests/coordinator/support/fake_devices.h"
#include "tests/coordinator/support/fake_workload.h"
#include "tests/coordinator/support/memory_store.h"
#include "tests/coordinator/sweep/fake_network.h"

namespace pareto::sweep {

/// A pace at which only the floors of requests and completions remain.
inline const SweepRunner::Pace kNoTime{.measuring = {}, .shortest_slice = {}, .longest_slice = {}};

/// Moves on whenever it is read.
class HastyClock final : public Clock {
 public:
  explicit HastyClock(Nanoseconds step = std::chrono::milliseconds(100)) : step_(step) {}
  TimePoint now() const override { return now_ += step_; }

 private:
  const Nanoseconds step_;
  mutable TimePoint now_{};
};

class SweepRunnerTest : public testing::Test {
 protected:
  SweepRunnerTest() {
    auto network = std::make_unique<FakeNetwork>();
    network_ = network.get();
    cluster_.emplace(cluster::Cluster::of(test::fake_devices({"a", "b"}, transport_, daemons_),
                                          std::move(network)));
    options_.requests = 8;
    options_.rounds = 3;
    run_.id = "run";
    run_.seed = 5;
    run_.devices.resize(2);
    for (const std::int64_t cut : {2, 5, 8}) add("cut" + std::to_string(cut), {"a", "b"}, cut);
    add("all-on:a", {"a"}, test::kFakeOperators);
    add("all-on:b", {"b"}, test::kFakeOperators);
  }

  void add(const std::string& id, const std::vector<std::string>& on, std::int64_t cut) {
    results::TrialRecord trial;
    trial.id = id;
    trial.transport = "memory";
    trial.plan.model = "adder";
    trial.plan.transport = "memory";
    trial.plan.stages.push_back({on[0], 0, cut});
    if (on.size() > 1) trial.plan.stages.push_back({on[1], cut, test::kFakeOperators});
    run_.trials.push_back(std::move(trial));
  }

  Expected<> sweep() {
    const auto progress = [this](const SweepProgress& now) {
      progress_.push_back(now);
      if (on_progress_) on_progress_(now);
    };
    SweepRunner runner({workload_,
                        *cluster_,
                        store_,
                        stop_,
                        progress,
                        test::sharing(transport_),
                        {},
                        kNoTime,
                        clock_},
                       options_, run_);
    return runner.run();
  }

  const results::TrialRecord& trial(const std::string& id) {
    return *std::ranges::find(run_.trials, id, &results::TrialRecord::id);
  }

  /// Returns the conditions that the network was under, one after the other.
  std::vector<std::string> network_changes() const {
    std::vector<std::string> changes = network_->applied;
    changes.erase(std::unique(changes.begin(), changes.end()), changes.end());
    return changes;
  }

  test::FakeWorkload workload_;
  test::MemoryTransport transport_;
  std::vector<test::FakeDaemon*> daemons_;
  FakeNetwork* network_ = nullptr;
  std::optional<cluster::Cluster> cluster_;
  test::MemoryStore store_;
  std::atomic<bool> stop_{false};
  SweepOptions options_;
  results::RunRecord run_;
  std::vector<SweepProgress> progress_;
  std::function<void(const SweepProgress&)> on_progress_;
  const Clock* clock_ = nullptr;
};

}  // namespace pareto::sweep
