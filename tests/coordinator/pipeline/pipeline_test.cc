#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/statistics/front.h"
#include "coordinator/sweep/run_once.h"
#include "coordinator/sweep/sweep.h"
#include "coordinator/sweep/sweep_plan.h"
#include "tests/coordinator/support/memory_store.h"
#include "tests/coordinator/support/small_model.h"

namespace pareto::client {
namespace {

using testing::HasSubstr;

class PipelineTest : public testing::Test {
 protected:
  PipelineTest()
      : model_(test::small_model()),
        cluster_(cluster::Cluster::start_local(2, std::filesystem::path(PARETO_BIN_DIR) / "paretod")
                     .value()) {
    options_.settings.engine = "plain";
    options_.requests = 8;
    options_.rounds = 1;
    options_.transports = {"tcp"};
  }

  plan::Plan plan(const std::string& split, const std::string& transport) {
    const auto points = model::select_split_points(model_.split_points(), split).value();
    plan::Plan plan = sweep::make_plan(model_, points, {"local-0", "local-1"}, 2, options_).value();
    plan.transport = transport;
    return plan;
  }

  void signal_second(int number) const { ASSERT_EQ(kill(cluster_.local_pids().at(1), number), 0); }

  model::Model model_;
  cluster::Cluster cluster_;
  sweep::SweepOptions options_;
  test::MemoryStore store_;
  std::atomic<bool> stop_{false};
};

TEST_F(PipelineTest, TwoStagesGiveTheWholeModelsOutputsBitForBit) {
  sweep::RunOnceOptions once;
  once.inputs = model_.example_inputs(2, 7).value();
  const auto here = model_.run_whole(*once.inputs).value();
  const plan::Plan uncut = sweep::make_plan(model_, {}, {"local-1"}, 2, options_).value();
  const auto whole = sweep::run_once(model_, cluster_, uncut, once).value().outputs;
  ASSERT_EQ(whole.size(), here.size());
  // This process may run on more threads than a daemon, and add in another order.
  EXPECT_LT(relative_error(here[0], whole[0]), 1e-5);
  for (const auto& [split, transport] :
       {std::pair("percent:20", "tcp"), std::pair("percent:70", "grpc")}) {
    const auto result = sweep::run_once(model_, cluster_, plan(split, transport), once);
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_EQ(result->outputs.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_TRUE(bit_equal(result->outputs[i], whole[i])) << transport << ' ' << split;
    }
    const results::TrialRecord& figures = result->figures;
    EXPECT_GT(figures.latency.p50_ms, 0);
    EXPECT_GT(figures.stages.at(1).compute_p50_ms, 0);
    EXPECT_GT(figures.links.at(1).transfer_p50_ms, 0);
    EXPECT_EQ(figures.stages.at(0).engine, "plain");
  }
}

TEST_F(PipelineTest, MicroBatchesGiveTheSameOutputs) {
  sweep::RunOnceOptions once;
  once.inputs = model_.example_inputs(3, 7).value();
  plan::Plan cut = plan("percent:40", "tcp");
  cut.batch = 3;
  const auto whole = sweep::run_once(model_, cluster_, cut, once);
  ASSERT_TRUE(whole) << whole.error().message;
  cut.micro_batch = 2;
  const auto result = sweep::run_once(model_, cluster_, cut, once);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(tensors_of(result->outputs).at(0)->shape().front(), 3);
  // Another batch may add in another order.
  EXPECT_LT(relative_error(Tuple{whole->outputs}, Tuple{result->outputs}), 1e-5);
  for (std::size_t i = 0; i < result->figures.links.size(); ++i) {
    EXPECT_EQ(result->figures.links[i].bytes, whole->figures.links[i].bytes);
  }
  EXPECT_EQ(result->figures.split->boundary_bytes, whole->figures.split->boundary_bytes);
}

TEST_F(PipelineTest, ASweepMeasuresEveryPlan) {
  options_.splits = "percent:30,percent:60";
  results::RunRecord run = sweep::make_run(model_, cluster_, options_, "test").value();
  ASSERT_EQ(run.trials.size(), 4U);
  const auto done = run_sweep(model_, cluster_, options_, run, store_, stop_, nullptr);
  ASSERT_TRUE(done) << done.error().message;
  for (const results::TrialRecord& trial : run.trials) {
    EXPECT_TRUE(statistics::is_measured(trial)) << trial.id << ' ' << trial.failure;
  }
  EXPECT_FALSE(run.finished.empty());
  for (const results::DeviceRecord& device : run.devices) {
    EXPECT_GT(device.weights_sent_bytes, 0U);
    EXPECT_LE(device.weights_sent_bytes, run.model_weight_bytes);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const auto status = cluster_.device(i).status(std::chrono::seconds(10)).value();
    EXPECT_TRUE(status.stages.empty());
    EXPECT_TRUE(status.shards.empty());
  }
}

TEST_F(PipelineTest, AKilledDaemonFailsItsTrialsAndLeavesARunToResume) {
  options_.splits = "percent:30,percent:60";
  options_.rounds = 3;
  results::RunRecord run = sweep::make_run(model_, cluster_, options_, "test").value();
  bool killed = false;
  const auto done = run_sweep(model_, cluster_, options_, run, store_, stop_,
                              [&](const sweep::SweepProgress& now) {
                                if (now.done < 2 || killed) return;
                                killed = true;
                                signal_second(SIGKILL);
                              });
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(killed);
  EXPECT_TRUE(run.finished.empty());
  for (const results::TrialRecord& trial : run.trials) {
    const bool needs_second = trial.plan.stages.back().device == "local-1";
    EXPECT_EQ(trial.status,
              needs_second ? results::TrialStatus::kFailed : results::TrialStatus::kOk)
        << trial.id << ' ' << trial.failure;
    EXPECT_EQ(trial.failure.empty(), !needs_second);
  }
}

TEST_F(PipelineTest, ADaemonThatHangsIsNoticedAtItsDeadline) {
  signal_second(SIGSTOP);
  // Its threads stop one by one; it is our child, so that its stop can be waited for.
  int state = 0;
  ASSERT_EQ(waitpid(cluster_.local_pids().at(1), &state, WUNTRACED), cluster_.local_pids().at(1));
  ASSERT_TRUE(WIFSTOPPED(state));
  const auto status = cluster_.device(1).status(std::chrono::milliseconds(300));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(status.error().message, HasSubstr("local-1"));
  signal_second(SIGCONT);
  EXPECT_TRUE(cluster_.device(1).status(std::chrono::seconds(10)));
}

TEST(StartLocal, SaysWhyADaemonDidNotStart) {
  const auto absent = cluster::Cluster::start_local(1, "/no/such/paretod");
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().message, HasSubstr("/no/such/paretod"));
  const auto other = cluster::Cluster::start_local(1, "/bin/true");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(other.error().message, HasSubstr("local-0"));
}

}  // namespace
}  // namespace pareto::client
