#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/results/record_json.h"
#include "tests/coordinator/results/store_fixture.h"
#include "tests/support/synthetic_run.h"

namespace pareto::results {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(Store, GivesBackWhatWasPut) {
  const RunRecord run = test::synthetic_run();
  put_all(*open(), run);
  const auto loaded = open()->load_run(run.id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(dump(to_json(*loaded)), dump(to_json(run)));
  ASSERT_EQ(loaded->trials.size(), run.trials.size());
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    EXPECT_EQ(whole(loaded->trials[i]), whole(run.trials[i]));
    EXPECT_EQ(loaded->trials[i].plan, run.trials[i].plan);
    ASSERT_EQ(loaded->trials[i].rounds.size(), run.trials[i].rounds.size());
    for (std::size_t j = 0; j < run.trials[i].rounds.size(); ++j) {
      EXPECT_EQ(loaded->trials[i].rounds[j].latency_ms, run.trials[i].rounds[j].latency_ms);
      EXPECT_EQ(loaded->trials[i].rounds[j].loading, run.trials[i].rounds[j].loading);
    }
    if (run.trials[i].split) {
      EXPECT_EQ(loaded->trials[i].split->boundary, run.trials[i].split->boundary);
      EXPECT_EQ(loaded->trials[i].split->cuts, run.trials[i].split->cuts);
    }
  }
  EXPECT_EQ(loaded->options_json, run.options_json);
}

TEST_F(Store, KeepsEveryCutOfALongerChain) {
  const RunRecord run = test::synthetic_chain_sweep();
  put_all(*open(), run);
  const auto loaded = open()->load_run(run.id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(dump(to_json(*loaded)), dump(to_json(run)));
  EXPECT_EQ(loaded->trials[0].split->cuts, run.trials[0].split->cuts);
  EXPECT_EQ(loaded->trials[0].split->cuts.size(), 2U);
}

TEST_F(Store, KeepsPredictionsAndPutsAllTrialsAtOnce) {
  RunRecord run = test::synthetic_adaptive_sweep();
  run.trials[0].no_room = true;
  const auto store = open();
  ASSERT_TRUE(store->begin_run(run));
  ASSERT_TRUE(store->put_trials(run.id, run.trials));
  ASSERT_TRUE(store->put_trials(run.id, run.trials)) << "which replaces them";
  ASSERT_TRUE(store->update_run(run));
  const auto loaded = open()->load_run(run.id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(dump(to_json(*loaded)), dump(to_json(run)));
  ASSERT_TRUE(loaded->trials[0].prediction);
  EXPECT_EQ(loaded->trials[0].prediction->expected_latency_ms,
            run.trials[0].prediction->expected_latency_ms);
  EXPECT_EQ(loaded->trials[0].prediction->window, 4);
  EXPECT_TRUE(loaded->trials[0].no_room);
  EXPECT_FALSE(loaded->trials[1].no_room);
  const auto listed = open()->list_runs();
  ASSERT_TRUE(listed);
  EXPECT_EQ(status_of(listed->front().trials[0]), "predicted") << "without details";
}

TEST_F(Store, OfSeveralTrialsAllAreKeptOrNone) {
  RunRecord run = test::synthetic_adaptive_sweep();
  const auto store = open();
  EXPECT_FALSE(store->put_trials("no such run", run.trials));
  ASSERT_TRUE(store->begin_run(run));
  const auto loaded = store->load_run(run.id);
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(loaded->trials.empty());
}

TEST_F(Store, ColumnsCanBeQueried) {
  const RunRecord run = test::synthetic_run();
  put_all(*open(), run);
  std::string best;
  double best_rate = 0;
  for (const TrialRecord& trial : run.trials) {
    if (trial.on_front && trial.throughput.samples_per_s > best_rate) {
      best = trial.id;
      best_rate = trial.throughput.samples_per_s;
    }
  }
  EXPECT_EQ(sql("SELECT id FROM trials WHERE on_front ORDER BY samples_per_s DESC LIMIT 1"), best);
  EXPECT_EQ(sql("SELECT count(*) FROM trials WHERE split IS NULL"), "8");
  EXPECT_EQ(sql("SELECT count(*) FROM trials WHERE status='failed' AND failure LIKE '%limit%'"),
            "1");
}

TEST_F(Store, ATrialPutAgainReplacesTheFirstInItsPlace) {
  RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 3});
  const auto store = open();
  put_all(*store, run);
  run.trials[1].status = TrialStatus::kFailed;
  run.trials[1].failure = "pi-2 does not answer";
  ASSERT_TRUE(store->put_trial(run, run.trials[1]));
  run.trials[2].status = TrialStatus::kSkipped;
  run.trials[2].failure = "network lte: 3 of 10 Mbit/s";
  ASSERT_TRUE(store->put_trials(run.id, {run.trials[2]}));
  const auto loaded = store->load_run(run.id);
  ASSERT_EQ(loaded->trials.size(), run.trials.size());
  EXPECT_EQ(loaded->trials[1].id, run.trials[1].id);
  EXPECT_EQ(loaded->trials[1].status, TrialStatus::kFailed);
  EXPECT_EQ(loaded->trials[1].failure, "pi-2 does not answer");
  EXPECT_EQ(loaded->trials[2].status, TrialStatus::kSkipped);
  EXPECT_EQ(loaded->trials[2].failure, "network lte: 3 of 10 Mbit/s");
}

TEST_F(Store, ATrialIsPutWithThePassesOfItsRun) {
  RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  run.passes.resize(1);
  const auto store = open();
  put_all(*store, run);
  run.passes.push_back({1, 16.9, 1.02, false, false, 12.5});
  ASSERT_TRUE(store->put_trial(run, run.trials[0]));
  const auto loaded = store->load_run(run.id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->passes.size(), 2U);
  EXPECT_TRUE(loaded->passes[0].whole);
  EXPECT_FALSE(loaded->passes[1].whole);
  EXPECT_EQ(loaded->passes[1].seconds, 12.5);
  // Neither where one of them cannot be put.
  run.id = "20260131-101502-none";
  EXPECT_FALSE(store->put_trial(run, run.trials[0]));
}

TEST_F(Store, FinishingMarksTheFrontAndTheEnd) {
  RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 4});
  const std::string finished = std::exchange(run.finished, "");
  for (TrialRecord& trial : run.trials) trial.on_front = false;
  const auto store = open();
  put_all(*store, run);
  EXPECT_EQ(store->load_run(run.id)->finished, "");
  run.finished = finished;
  run.trials[2].on_front = true;
  run.trials[2].p_front = 0.75;
  // What all trials together say moves the figures of each.
  run.trials[1].latency.p50_ms = 12.34;
  run.trials[1].latency.ci95_ms = {11, 14};
  run.trials[1].throughput.samples_per_s = 56.78;
  run.trials[1].throughput.ci95 = {50, 60};
  run.devices[1].weights_sent_bytes = 99;
  run.options_json = R"({"sweep":{"budget_s":3600}})";
  ASSERT_TRUE(store->update_run(run));
  const auto loaded = store->load_run(run.id);
  EXPECT_EQ(loaded->finished, finished);
  EXPECT_EQ(loaded->options_json, run.options_json) << "it may have gone on with others";
  EXPECT_EQ(loaded->devices[1].weights_sent_bytes, 99U);
  EXPECT_THAT(front_ids(*loaded), ElementsAre(run.trials[2].id));
  EXPECT_EQ(loaded->trials[2].p_front, 0.75);
  const TrialRecord& moved = loaded->trials[1];
  EXPECT_EQ(moved.latency.p50_ms, 12.34);
  EXPECT_EQ(moved.latency.ci95_ms.high, 14);
  EXPECT_EQ(moved.throughput.samples_per_s, 56.78);
  EXPECT_EQ(moved.throughput.ci95.low, 50);
  EXPECT_EQ(moved.latency.measured_p50_ms, run.trials[1].latency.measured_p50_ms);
}

TEST_F(Store, DevicesOfBeforeItWasKeptWhatTheyRunOn) {
  RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  run.devices[0].runs_on = "cuda:0";
  run.devices[0].cores = 4;
  put_all(*open(), run);
  auto loaded = open()->load_run(run.id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->devices[0].runs_on, "cuda:0");
  EXPECT_EQ(loaded->devices[0].cores, 4);
  sql("UPDATE runs SET devices='[{\"name\":\"pi-1\",\"address\":\"pi:7070\",\"threads\":1,"
      "\"cpu\":\"A72\",\"memory_bytes\":1,\"torch\":\"1.13.1\",\"weights_sent_bytes\":2}]'");
  loaded = open()->load_run(run.id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->devices.size(), 1U);
  EXPECT_EQ(loaded->devices[0].runs_on, "");
  EXPECT_EQ(loaded->devices[0].cores, 0);
}

TEST_F(Store, ARunIsRemovedWithItsTrials) {
  const auto store = open();
  put_runs(*store, {"20260131-101502-ab12", "20260202-080000-ef56"});
  const std::string before = sql("SELECT count(*) FROM trials");
  ASSERT_TRUE(store->remove_run("20260202-080000-ef56"));
  EXPECT_EQ(store->load_run("last")->id, "20260131-101502-ab12");
  EXPECT_EQ(std::stoi(sql("SELECT count(*) FROM trials")) * 2, std::stoi(before));
  EXPECT_EQ(store->remove_run("20260202-080000-ef56").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store->remove_run("2026").error().code, ErrorCode::kNotFound) << "ids are whole";
}

TEST_F(Store, ADamagedRunIsListedAndHidesNoOther) {
  RunRecord damaged = test::synthetic_run({.batches = {1}, .split_points = 1});
  damaged.id = "20250131-101502-ab12";
  const RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 2});
  put_all(*open(), damaged);
  put_all(*open(), run);
  for (const char* column : {"devices", "passes", "coordinator"}) {
    sql(std::string("UPDATE runs SET ") + column + "='[[' WHERE id='" + damaged.id + "'");
    const auto listed = open()->list_runs();
    ASSERT_TRUE(listed) << listed.error().message;
    ASSERT_EQ(listed->size(), 2U);
    EXPECT_EQ(listed->front().damage, "");
    EXPECT_EQ(listed->front().trials.size(), run.trials.size());
    EXPECT_NE(listed->back().damage, "") << column;
    EXPECT_EQ(listed->back().id, damaged.id);
    EXPECT_TRUE(open()->load_run(run.id));
    const auto loaded = open()->load_run(damaged.id);
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().message, HasSubstr("run " + damaged.id + ": it is damaged"));
  }
}

TEST_F(Store, SaysWhichDetailsAreDamaged) {
  const RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 2});
  put_all(*open(), run);
  for (const char* details : {"{", "{}", "[]", "{\"plan\":{}}"}) {
    sql("UPDATE trials SET details='" + std::string(details) + "' WHERE number=2");
    const auto loaded = open()->load_run(run.id);
    ASSERT_FALSE(loaded) << details;
    EXPECT_EQ(loaded.error().code == ErrorCode::kCorrupt ||
                  loaded.error().code == ErrorCode::kInvalidArgument,
              true);
    EXPECT_THAT(loaded.error().message, HasSubstr(run.trials[1].id));
  }
}

}  // namespace
}  // namespace pareto::results
