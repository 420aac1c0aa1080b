#include "coordinator/load/deployment_cache.h"

#include <gtest/gtest.h>

#include "coordinator/load/load.h"
#include "tests/coordinator/support/fake_devices.h"
#include "tests/coordinator/support/fake_workload.h"

namespace pareto::load {
namespace {

constexpr Nanoseconds kEveryOpeningIsDear{0};
constexpr Nanoseconds kNoOpeningIsDear = Nanoseconds::max();

class DeploymentCacheTest : public testing::Test {
 protected:
  DeploymentCacheTest()
      : cluster_(cluster::Cluster::of(test::fake_devices({"a", "b"}, transport_, daemons_))),
        pool_(workload_) {}

  DeploymentCache cache(Nanoseconds slow_opening) {
    return {cluster_, pool_, test::sharing(transport_), {}, slow_opening};
  }

  static plan::Plan cut_at(std::int64_t position) {
    plan::Plan plan;
    plan.model = "adder";
    plan.transport = "memory";
    plan.stages = {{"a", 0, position}, {"b", position, test::kFakeOperators}};
    return plan;
  }

  double answer(cluster::Deployment& deployment) {
    Load load(deployment.source(), deployment.sink(), deployment.pipeline());
    const Value request{Tuple{workload_.example(2, 1).value()}};
    return test::sum_of(load.run(request, {}).value().last_output);
  }

  test::FakeWorkload workload_;
  test::MemoryTransport transport_;
  std::vector<test::FakeDaemon*> daemons_;
  cluster::Cluster cluster_;
  cluster::ShardPool pool_;
};

TEST_F(DeploymentCacheTest, WhereOpeningCostsLittleEachPlanKeepsItsPipeline) {
  DeploymentCache open = cache(kNoOpeningIsDear);
  const DeploymentCache::Lease first = open.get(1, cut_at(3)).value();
  EXPECT_TRUE(first.opened);
  EXPECT_TRUE(open.get(2, cut_at(5)).value().opened);
  EXPECT_EQ(daemons_[0]->open_stages(), 2U);
  const DeploymentCache::Lease again = open.get(1, cut_at(3)).value();
  EXPECT_FALSE(again.opened);
  EXPECT_EQ(again.deployment, first.deployment);
}

TEST_F(DeploymentCacheTest, WhereOpeningIsDearTheNextPlanTakesThePipelineOver) {
  DeploymentCache open = cache(kEveryOpeningIsDear);
  const DeploymentCache::Lease first = open.get(1, cut_at(3), "lte").value();
  const DeploymentCache::Lease second = open.get(2, cut_at(5), "lte").value();
  EXPECT_EQ(second.deployment, first.deployment);
  EXPECT_FALSE(second.opened);
  EXPECT_EQ(second.deployment->shards()[0]->end, 5);
  EXPECT_DOUBLE_EQ(answer(*second.deployment), 80);
  EXPECT_EQ(open.get(1, cut_at(3), "lte").value().deployment->shards()[0]->end, 3) << "and back";
  EXPECT_EQ(daemons_[0]->stages_opened(), 1);
}

TEST_F(DeploymentCacheTest, WhatConnectionsLearntOfAnotherNetworkIsOfNoUse) {
  DeploymentCache open = cache(kEveryOpeningIsDear);
  open.get(1, cut_at(3), "lte").value();
  open.get(2, cut_at(5), "wifi").value();
  EXPECT_EQ(daemons_[0]->open_stages(), 2U);
  open.get(3, cut_at(6), "lte").value();
  EXPECT_EQ(daemons_[0]->open_stages(), 2U);
}

TEST_F(DeploymentCacheTest, PipelinesOfOtherCodecsStayOpen) {
  DeploymentCache open = cache(kEveryOpeningIsDear);
  plan::Plan coded = cut_at(3);
  coded.splits = {"here"};
  coded.codecs = {"fp16"};
  open.get(1, coded).value();
  open.get(2, cut_at(3)).value();
  open.get(3, cut_at(5)).value();
  EXPECT_FALSE(open.get(1, coded).value().opened);
  EXPECT_EQ(daemons_[0]->stages_opened(), 2);
}

TEST_F(DeploymentCacheTest, OtherPipelinesMakeRoomForTheNextPlansShards) {
  daemons_[0]->set_memory_limit(8 * test::kFakeWeightBytes);
  DeploymentCache open = cache(kEveryOpeningIsDear);
  open.get(1, cut_at(3), "lte").value();
  open.get(2, cut_at(2), "wifi").value();
  const DeploymentCache::Lease third = open.get(3, cut_at(4), "lte").value();
  EXPECT_FALSE(third.opened);
  EXPECT_DOUBLE_EQ(answer(*third.deployment), 80);
  EXPECT_EQ(daemons_[0]->open_stages(), 1U) << "the other one is closed";
}

TEST_F(DeploymentCacheTest, AnotherIsOpenedWhereThePipelineCannotRunThePlan) {
  DeploymentCache open = cache(kEveryOpeningIsDear);
  open.get(1, cut_at(3)).value();
  daemons_[0]->fail_changes(Error{ErrorCode::kExhausted, "the link is cold"});
  const DeploymentCache::Lease second = open.get(2, cut_at(5)).value();
  EXPECT_TRUE(second.opened);
  EXPECT_DOUBLE_EQ(answer(*second.deployment), 80);
  EXPECT_EQ(daemons_[0]->open_stages(), 1U) << "the first one is closed";
}

}  // namespace
}  // namespace pareto::load
