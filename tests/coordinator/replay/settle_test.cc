// The front follows from the figures shown, whatever kind of sweep measured them, in one part or in
// several.
#include "coordinator/replay/settle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "client/report/report_writer.h"
#include "coordinator/results/front_chance.h"
#include "coordinator/results/prediction_guide.h"
#include "coordinator/results/shown_figure.h"
#include "coordinator/statistics/front.h"
#include "coordinator/sweep/race_schedule.h"
#include "core/base/file.h"
#include "tests/support/front_property.h"
#include "tests/support/simulated_rounds.h"

namespace pareto::replay {
namespace {

using testing::IsEmpty;

constexpr int kRounds = 9;

/// Plans whose true figures lie near a front, all of their rounds still to be measured, and the
/// rounds that measuring would give.
struct Simulation {
  results::RunRecord run;
  std::vector<results::TrialRecord> measured;  ///< the same plans with kRounds rounds each

  void measure(std::size_t trial, int round) {
    results::TrialRecord& into = run.trials[trial];
    into.rounds.push_back(measured[trial].rounds[static_cast<std::size_t>(round)]);
    std::ranges::sort(into.rounds, {}, &results::TrialRound::round);
    into.latency.samples += std::ssize(into.rounds.back().latency_ms);
    statistics::settle_alone(into);
  }
};

Simulation simulate(std::uint64_t seed, bool adaptive) {
  statistics::Random random(seed);
  test::SimulatedRun machine({.drift = 0.02 + 0.1 * random.uniform(), .unit = 0.03}, kRounds, seed);
  Simulation simulation;
  simulation.run.id = "20260131-101502-ab12";
  simulation.run.seed = seed;
  simulation.run.options_json =
      adaptive ? R"({"sweep":{"adaptive":true}})" : R"({"sweep":{"adaptive":false}})";
  for (int i = 0; i < 12; ++i) {
    results::TrialRecord trial;
    trial.id = "cut" + std::to_string(i);
    trial.transport = "tcp";
    trial.plan.model = "m";
    trial.plan.transport = "tcp";
    trial.plan.splits = {trial.id};
    trial.plan.stages = {{"a", 0, i + 1}, {"b", i + 1, 20}};
    trial.batch = trial.plan.batch = i % 5 == 4 ? 2 : 1;
    const double latency_ms = 20 * (1 + 0.04 * i) * std::exp(0.02 * random.normal());
    const double rate = 90 * (1 + 0.04 * i) * std::exp(0.02 * random.normal());
    // A request is a batch.
    simulation.measured.push_back(
        machine.measure(trial.id, latency_ms, rate / static_cast<double>(trial.batch)));
    simulation.measured.back().batch = trial.batch;
    for (results::TrialRound& round : simulation.measured.back().rounds) round.stages.resize(2);
    const double off = std::exp(0.1 * random.normal());
    trial.prediction =
        results::Prediction{.latency_ms = latency_ms * off, .samples_per_s = rate / off};
    simulation.run.trials.push_back(std::move(trial));
  }
  return simulation;
}

/// Runs passes as a race goes: each by what those before it say.
void race(Simulation& simulation, int passes) {
  sweep::SweepOptions options;
  options.adaptive = true;
  const auto schedule = sweep::make_race_schedule(simulation.run, options);
  for (int i = 0; i < passes; ++i) {
    const auto pass = schedule->next(simulation.run);
    if (!pass || pass->round >= kRounds) break;
    simulation.run.passes.push_back({.round = pass->round});
    for (const std::size_t trial : pass->trials) simulation.measure(trial, pass->round);
  }
  schedule->next(simulation.run);
  schedule->mark(simulation.run);
}

/// The figures of each measured trial as a document of the run has them, and what it says of its
/// place.
void expect_agreement(const nlohmann::json& document, const results::RunRecord& run) {
  ASSERT_EQ(document["trials"].size(), run.trials.size());
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    const results::TrialRecord& trial = run.trials[i];
    const nlohmann::json& shown = document["trials"][i];
    if (!statistics::is_measured(trial)) continue;
    EXPECT_EQ(shown["latency_ms"]["p50"], trial.latency.p50_ms);
    EXPECT_EQ(shown["throughput"]["samples_per_s"], trial.throughput.samples_per_s);
    EXPECT_EQ(shown["on_front"], trial.on_front);
    EXPECT_EQ(shown["rounds"], trial.rounds.size());
  }
}

void expect_honest(const results::RunRecord& run) {
  EXPECT_THAT(test::contradiction_in(run), IsEmpty());
  for (const results::TrialRecord& trial : run.trials) {
    if (!statistics::is_measured(trial)) continue;
    EXPECT_EQ(trial.latency.p50_ms, results::shown_figure(trial.latency.p50_ms));
    EXPECT_LT(trial.latency.ci95_ms.low, trial.latency.p50_ms) << trial.id;
    EXPECT_GT(trial.latency.ci95_ms.high, trial.latency.p50_ms) << trial.id;
    EXPECT_LT(trial.throughput.ci95.low, trial.throughput.samples_per_s) << trial.id;
    EXPECT_GT(trial.throughput.ci95.high, trial.throughput.samples_per_s) << trial.id;
    if (!results::has_few_rounds(trial)) continue;
    EXPECT_GE(trial.p_front, results::kLeastChance);
    EXPECT_LE(trial.p_front, 1 - results::kLeastChance);
  }
  for (const char* format : {"json", "html"}) {
    const std::string text = (*report::make_writer(format))->write(run, {}).value();
    const std::string opening = "id=\"run\">";
    const std::size_t begin = text.find(opening);
    const std::string document =
        begin == std::string::npos
            ? text
            : text.substr(begin + opening.size(),
                          text.find("</script>", begin) - begin - opening.size());
    expect_agreement(nlohmann::json::parse(document), run);
  }
}

TEST(Settle, OfAnExhaustiveSweepTheFrontFollowsFromTheFiguresShown) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    Simulation simulation = simulate(seed, false);
    for (std::size_t trial = 0; trial < simulation.run.trials.size(); ++trial) {
      // Where it was resumed some trials lack a round, or have one of their own.
      for (int round = 0; round <= static_cast<int>(seed) % 4; ++round) {
        simulation.measure(trial, trial % 4 == 3 && round > 0 ? round + 4 : round);
      }
    }
    settle(simulation.run);
    expect_honest(simulation.run);
  }
}

TEST(Settle, OfAnAdaptiveSweepTheFrontFollowsFromTheFiguresShown) {
  std::size_t moved = 0;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    Simulation simulation = simulate(seed, true);
    race(simulation, 1 + static_cast<int>(seed) % 5);
    expect_honest(simulation.run);
    for (const results::TrialRecord& trial : simulation.run.trials) {
      if (!statistics::is_measured(trial)) continue;
      moved += trial.latency.p50_ms != results::shown_figure(trial.latency.measured_p50_ms) ? 1 : 0;
      EXPECT_EQ(trial.latency.p50_ms, results::shown_figure(trial.prediction->expected_latency_ms))
          << "what is believed is what is shown";
    }
    // Gone on with, by another process.
    race(simulation, 2);
    expect_honest(simulation.run);
  }
  EXPECT_GT(moved, 50U);
}

/// Judges the plans of a run as a race that goes on with it would.
statistics::RaceState judged(const results::RunRecord& run) {
  std::vector<statistics::RacePlan> plans = sweep::race_plans(run.trials);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    for (const results::TrialRound& round : run.trials[i].rounds) {
      plans[i].rounds.push_back(*sweep::race_round(round, run.trials[i].batch));
    }
  }
  statistics::RaceRules rules;
  rules.seed = run.seed;
  return statistics::judge_race(plans, rules);
}

TEST(Settle, ARaceAndWhatIsShownJudgePredictionsAlike) {
  std::size_t open = 0;
  std::size_t guided = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    Simulation simulation = simulate(seed, true);
    std::vector<results::TrialRecord>& trials = simulation.run.trials;
    // Some predictions put the plans into the opposite order, and others stem from a busy machine.
    for (std::size_t i = 0; seed % 3 == 1 && i < trials.size() / 2; ++i) {
      std::swap(trials[i].prediction, trials[trials.size() - 1 - i].prediction);
    }
    for (results::TrialRecord& trial : trials) trial.prediction->doubted = seed % 3 == 2;
    race(simulation, 1 + static_cast<int>(seed) % 2);
    const statistics::RaceState state = judged(simulation.run);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (!results::is_predicted_only(trials[i])) continue;
      const bool is_unsettled = trials[i].p_front == results::kUnsettled;
      ++(is_unsettled ? open : guided);
      EXPECT_EQ(state.standings[i].decided,
                !is_unsettled && trials[i].p_front <= results::kLeastChance)
          << seed << ' ' << trials[i].id;
    }
    for (const auto& [key, guide] : results::prediction_guides(trials)) {
      for (const results::TrialRecord& trial : trials) {
        if (results::GroupKey(trial.batch, trial.condition) != key) continue;
        EXPECT_EQ(trial.p_front == results::kUnsettled,
                  !guide.guides && results::is_predicted_only(trial))
            << seed << ' ' << trial.id;
      }
    }
  }
  EXPECT_GT(open, 10U);
  EXPECT_GT(guided, 10U);
}

TEST(Settle, IntervalsOfBeliefsHoldTheMedianOfAllRounds) {
  int held = 0;
  int all = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Simulation simulation = simulate(seed, true);
    race(simulation, 1 + static_cast<int>(seed) % 3);
    for (std::size_t i = 0; i < simulation.run.trials.size(); ++i) {
      const results::TrialRecord& trial = simulation.run.trials[i];
      if (!statistics::is_measured(trial)) continue;
      results::TrialRecord& truth = simulation.measured[i];
      statistics::settle_alone(truth);
      const double truth_ms = truth.latency.measured_p50_ms;
      const double truth_per_s = truth.throughput.measured_per_s;
      held += trial.latency.ci95_ms.low <= truth_ms && truth_ms <= trial.latency.ci95_ms.high;
      held += trial.throughput.ci95.low <= truth_per_s && truth_per_s <= trial.throughput.ci95.high;
      all += 2;
    }
  }
  EXPECT_GT(all, 400);
  EXPECT_GE(held, all * 90 / 100);
}

class StoredFigures : public testing::Test {
 protected:
  StoredFigures()
      : folder_(TemporaryFolder::create("settle-test").value()),
        store_(results::ResultStore::open(folder_.path() / "results.db").value()) {}

  results::RunRecord loaded(const std::string& id) {
    auto run = load_settled(*store_, id);
    EXPECT_TRUE(run) << run.error().message;
    return run ? *std::move(run) : results::RunRecord{};
  }

  static std::string figures_of(results::RunRecord run) {
    // Made from the samples again whenever a run is read.
    for (results::TrialRecord& trial : run.trials) trial.latency.p95_ms = 0;
    return (*report::make_writer("csv"))->write(run, {}).value();
  }

  TemporaryFolder folder_;
  std::unique_ptr<results::ResultStore> store_;
};

TEST_F(StoredFigures, AreWhatTheSweepPrinted) {
  for (const bool adaptive : {false, true}) {
    Simulation simulation = simulate(3, adaptive);
    results::RunRecord& run = simulation.run;
    run.id += adaptive ? "a" : "e";
    ASSERT_TRUE(store_->begin_run(run));
    for (std::size_t i = 0; i < run.trials.size(); ++i) {
      for (int round = 0; round < 3; ++round) simulation.measure(i, round);
      ASSERT_TRUE(store_->put_trial(run, run.trials[i]));
    }
    // Killed here, it has settled nothing yet.
    const results::RunRecord killed = loaded(run.id);
    expect_honest(killed);
    settle(run);
    EXPECT_EQ(figures_of(killed), figures_of(run));
    ASSERT_TRUE(store_->put_trials(run.id, run.trials));
    ASSERT_TRUE(store_->update_run(run));
    EXPECT_EQ(figures_of(store_->load_run(run.id).value()), figures_of(run));
    EXPECT_EQ(figures_of(loaded(run.id)), figures_of(run));
  }
}

TEST_F(StoredFigures, OfAnEarlierVersionAreMadeAgain) {
  Simulation simulation = simulate(4, true);
  race(simulation, 3);
  results::RunRecord run = simulation.run;
  run.finished = "2026-01-31T10:16:49Z";
  for (results::TrialRecord& trial : run.trials) {
    // It showed the medians, called P(front) certain, and kept no other medians.
    trial.latency.p50_ms = trial.latency.measured_p50_ms;
    trial.throughput.samples_per_s = trial.throughput.measured_per_s;
    trial.latency.measured_p50_ms = trial.throughput.measured_per_s = 0;
    trial.p_front = trial.on_front ? 1 : 0;
  }
  ASSERT_TRUE(store_->begin_run(run));
  ASSERT_TRUE(store_->put_trials(run.id, run.trials));
  ASSERT_TRUE(store_->update_run(run));
  const results::RunRecord again = loaded(run.id);
  expect_honest(again);
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    EXPECT_EQ(again.trials[i].latency.p50_ms, simulation.run.trials[i].latency.p50_ms);
    EXPECT_EQ(again.trials[i].on_front, simulation.run.trials[i].on_front);
  }
}

}  // namespace
}  // namespace pareto::replay
