#include "coordinator/sweep/run_once.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "coordinator/sweep/sweep_plan.h"
#include "partitioner/model/graph/split_points.h"
#include "tests/coordinator/support/fake_daemon.h"
#include "tests/coordinator/support/fake_workload.h"
#include "tests/coordinator/support/small_model.h"

namespace pareto::sweep {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Gt;
using testing::HasSubstr;
using testing::SizeIs;

/// A model that is deployed to two devices of the test, over a real transport. They compute another
/// function than the model's: each operator adds one to every element.
class RunOnceTest : public testing::Test {
 protected:
  RunOnceTest() {
    std::vector<std::unique_ptr<cluster::DaemonClient>> devices;
    for (const char* name : {"a", "b"}) {
      auto daemon = std::make_unique<test::FakeDaemon>(name, *transport_);
      daemons_.push_back(daemon.get());
      devices.push_back(std::move(daemon));
    }
    cluster_.emplace(cluster::Cluster::of(std::move(devices)));
    once_.requests = 5;
  }

  plan::Plan plan_over(const std::vector<std::string>& devices) const {
    std::vector<std::size_t> points;
    if (devices.size() > 1) {
      points = model::select_split_points(model_.split_points(), "after:features.3").value();
    }
    plan::Plan plan = make_plan(model_, points, devices, 2, {}).value();
    plan.transport = "shm";
    plan.window = 2;
    return plan;
  }
  plan::Plan replicas() const {
    plan::Plan plan = plan_over({"a"});
    plan.stages.push_back(plan.stages.front());
    plan.stages.back().device = "b";
    plan.replicated = true;
    return plan;
  }

  Expected<RunOnceResult> run(const plan::Plan& plan) const {
    return run_once(model_, *cluster_, plan, once_);
  }
  Error error_of(const plan::Plan& plan) const {
    auto result = run(plan);
    return result ? Error{ErrorCode::kInternal, "accepted"} : std::move(result).error();
  }

  std::unique_ptr<transport::Transport> transport_ = transport::make_transport("shm").value();
  model::Model model_ = test::small_model();
  std::vector<test::FakeDaemon*> daemons_;
  std::optional<cluster::Cluster> cluster_;
  RunOnceOptions once_;
};

TEST_F(RunOnceTest, SaysWhatItRanAndWhatCameOut) {
  once_.inputs = model_.example_inputs(2, 7).value();
  const auto result = run(plan_over({"a", "b"}));
  ASSERT_TRUE(result) << result.error().message;
  const results::TrialRecord& figures = result->figures;
  EXPECT_EQ(figures.id, "after:features.3/shm/b2");
  EXPECT_EQ(figures.transport, "shm");
  EXPECT_EQ(figures.codec, "none");
  EXPECT_FALSE(figures.auto_codec);
  EXPECT_EQ(figures.batch, 2);
  ASSERT_TRUE(figures.split);
  EXPECT_EQ(figures.split->name, "after:features.3");
  ASSERT_THAT(figures.rounds, SizeIs(1));
  EXPECT_THAT(figures.rounds[0].latency_ms, AllOf(SizeIs(5), Each(Gt(0))));
  EXPECT_EQ(figures.rounds[0].window, 2);
  EXPECT_GT(figures.latency.p50_ms, 0);
  EXPECT_GT(figures.throughput.samples_per_s, 0);
  ASSERT_THAT(result->start.stages, SizeIs(2));
  EXPECT_EQ(result->start.stages[1].device, "b");
  EXPECT_EQ(result->start.stages[1].shard.engine, "fake");
  EXPECT_GT(result->start.open.count(), 0);
  EXPECT_GT(result->start.first_request.count(), 0);
  EXPECT_FALSE(result->trace);

  const auto operators = static_cast<double>(model_.graph().operators.size());
  const double elements = 2 * 3 * 64 * 64;
  const double sum = test::sum_of(Value{Tuple{*once_.inputs}}) + operators * elements;
  EXPECT_NEAR(test::sum_of(Value{Tuple{result->outputs}}), sum, 1e-5 * sum);
}

TEST_F(RunOnceTest, OutputsOfAnotherShapeAreInfinitelyFarFromTheModels) {
  const auto result = run(plan_over({"a"}));
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->expected.size(), 1U);
  EXPECT_EQ(tensors_of(result->expected).at(0)->shape(), (std::vector<std::int64_t>{2, 10}));
  ASSERT_TRUE(result->figures.output_error);
  EXPECT_TRUE(std::isinf(result->figures.output_error->max));
}

TEST_F(RunOnceTest, APlanOfOneDeviceIsCalledByIt) {
  const auto one = run(plan_over({"b"}));
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->figures.id, "all-on:b/shm/b2");
  EXPECT_FALSE(one->figures.split);
  const auto both = run(replicas());
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(both->figures.id, "all-on:a+b/shm/b2");
  EXPECT_THAT(both->start.stages, SizeIs(2));
}

TEST_F(RunOnceTest, WarmsUpAsOftenAsItIsAsked) {
  const auto none = run(plan_over({"a"}));
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_EQ(none->start.warm_up_requests, 0);
  EXPECT_EQ(none->start.last_warm_up, Nanoseconds{});
  once_.warm_up = 3;
  const auto three = run(plan_over({"a"}));
  ASSERT_TRUE(three) << three.error().message;
  EXPECT_EQ(three->start.warm_up_requests, 3);
  EXPECT_GT(three->start.last_warm_up.count(), 0);
  EXPECT_THAT(three->figures.rounds[0].latency_ms, SizeIs(5)) << "they count nowhere";
  for (const int nothing : {0, -1}) {
    once_.warm_up = nothing;
    const auto result = run(plan_over({"a"}));
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->start.warm_up_requests, 0);
  }
}

TEST_F(RunOnceTest, TracesAsManyRequestsAgain) {
  once_.trace = true;
  const auto result = run(plan_over({"a", "b"}));
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_TRUE(result->trace);
  EXPECT_THAT(result->trace->stages, SizeIs(2));
  EXPECT_THAT(result->trace->load.samples, SizeIs(5));
  EXPECT_EQ(result->trace->plan.window, 2);
}

TEST_F(RunOnceTest, ATraceOfReplicasIsRefusedBeforeAnythingIsLoaded) {
  once_.trace = true;
  const Error error = error_of(replicas());
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("a trace is of one pipeline"));
  for (const test::FakeDaemon* daemon : daemons_) EXPECT_EQ(daemon->loads(), 0);
}

TEST_F(RunOnceTest, AnotherNumberOfInputsIsRefusedBeforeAnythingIsLoaded) {
  const std::vector<Value> one = model_.example_inputs(2, 7).value();
  for (const std::vector<Value>& inputs : {std::vector<Value>{}, {one[0], one[0]}}) {
    once_.inputs = inputs;
    const Error error = error_of(plan_over({"a"}));
    EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.message, HasSubstr(fmt::format("{} inputs, not 1", inputs.size())));
  }
  EXPECT_EQ(daemons_[0]->loads(), 0);
}

TEST_F(RunOnceTest, WhatCannotBeDeployedSaysSo) {
  plan::Plan plan = plan_over({"a"});
  plan.stages[0].device = "nowhere";
  EXPECT_THAT(error_of(plan).message, AllOf(HasSubstr("deploying: "), HasSubstr("nowhere")));
  plan = plan_over({"a"});
  plan.transport = "tcp";
  EXPECT_THAT(error_of(plan).message,
              AllOf(HasSubstr("deploying: "), HasSubstr("no data address for transport \"tcp\"")));
  daemons_[1]->set_memory_limit(1);
  const Error error = error_of(plan_over({"a", "b"}));
  EXPECT_EQ(error.code, ErrorCode::kExhausted);
  EXPECT_THAT(error.message, HasSubstr("stage 1"));
  once_.weight = 2;
  EXPECT_THAT(error_of(plan_over({"a"})).message, HasSubstr("knows neither weights"));
}

TEST_F(RunOnceTest, ADeviceThatDiesIsNamed) {
  daemons_[1]->die_at_request(3);
  const Error error = error_of(plan_over({"a", "b"}));
  EXPECT_EQ(error.code, ErrorCode::kUnavailable);
  EXPECT_THAT(error.message, AllOf(HasSubstr("stage 1 on b"), HasSubstr("; seen as: ")));
}

TEST_F(RunOnceTest, AnErrorOfAStageIsNoLoss) {
  daemons_[1]->fail_request(0);
  const Error error = error_of(plan_over({"a", "b"}));
  EXPECT_EQ(error.code, ErrorCode::kExhausted);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("stage 1 on b: no memory"), testing::Not(HasSubstr("seen as"))));
}

TEST_F(RunOnceTest, ARequestThatTakesTooLongEndsAtItsLimit) {
  daemons_[0]->hang();
  once_.timeout = std::chrono::milliseconds(100);
  EXPECT_EQ(error_of(plan_over({"a", "b"})).code, ErrorCode::kTimeout);
  EXPECT_EQ(daemons_[0]->open_stages() + daemons_[1]->open_stages(), 0U) << "nothing stays open";
}

}  // namespace
}  // namespace pareto::sweep
