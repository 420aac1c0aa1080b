#include "coordinator/cluster/deployment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/load/load.h"
#include "tests/coordinator/support/fake_devices.h"
#include "tests/coordinator/support/fake_workload.h"

namespace pareto::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DeploymentTest : public testing::Test {
 protected:
  DeploymentTest()
      : cluster_(Cluster::of(test::fake_devices({"a", "b", "c"}, transport_, daemons_))),
        pool_(std::in_place, workload_) {}

  static plan::Plan plan(std::vector<std::int64_t> cuts) {
    plan::Plan plan;
    plan.model = "adder";
    plan.transport = "memory";
    const std::vector<std::string> names{"a", "b", "c"};
    cuts.push_back(test::kFakeOperators);
    for (std::int64_t begin = 0; const std::int64_t end : cuts) {
      plan.stages.push_back({names[plan.stages.size()], begin, end});
      begin = end;
    }
    return plan;
  }

  Expected<std::unique_ptr<Deployment>> open(const plan::Plan& plan) {
    return Deployment::open(plan, cluster_, *pool_, transports_);
  }

  double answer(Deployment& deployment) {
    load::Load load(deployment.source(), deployment.sink(), deployment.pipeline());
    const Value request{Tuple{workload_.example(2, 1).value()}};
    return test::sum_of(load.run(request, {}).value().last_output);
  }

  void expect_nothing_left() const {
    for (const test::FakeDaemon* daemon : daemons_) EXPECT_EQ(daemon->open_stages(), 0U);
  }

  test::FakeWorkload workload_;
  test::MemoryTransport transport_;
  TransportSet transports_{test::sharing(transport_)};
  std::vector<test::FakeDaemon*> daemons_;
  Cluster cluster_;
  std::optional<ShardPool> pool_;
};

TEST_F(DeploymentTest, EveryWayToCutGivesTheSameAnswer) {
  for (const auto& cuts : std::vector<std::vector<std::int64_t>>{{}, {3}, {9}, {2, 7}}) {
    auto deployment = open(plan(cuts)).value();
    EXPECT_DOUBLE_EQ(answer(*deployment), 8.0 * test::kFakeOperators);
    EXPECT_EQ(deployment->round_trips().size(), cuts.size() + 2);
    for (const Nanoseconds round_trip : deployment->round_trips()) {
      EXPECT_GE(round_trip.count(), 0);
    }
    EXPECT_GT(deployment->round_trips().front().count(), 0);
    EXPECT_GT(deployment->round_trips().back().count(), 0);
  }
  expect_nothing_left();
}

TEST_F(DeploymentTest, ReplicasAnswerInTurns) {
  plan::Plan replicas = plan({});
  replicas.replicated = true;
  replicas.stages.push_back({"b", 0, test::kFakeOperators});
  auto deployment = open(replicas).value();
  EXPECT_EQ(deployment->turn(), 2U);
  EXPECT_EQ(deployment->round_trips().size(), 4U);
  for (const Nanoseconds round_trip : deployment->round_trips()) EXPECT_GT(round_trip.count(), 0);
  load::Load load(deployment->source(), deployment->sink(), deployment->pipeline());
  load::LoadOptions options;
  options.window = 3;
  options.requests = 7;
  const auto done = load.run(Value{Tuple{workload_.example(2, 1).value()}}, options);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->samples.size(), 7U);
  for (const load::RequestSample& sample : done->samples) EXPECT_EQ(sample.timeline.size(), 1U);
  EXPECT_DOUBLE_EQ(test::sum_of(done->last_output), 8.0 * test::kFakeOperators);
  EXPECT_EQ(deployment->wire_bytes().size(), 4U);
  // A pipeline is none of it, and the other way round.
  EXPECT_FALSE(deployment->change_to(plan({3}), *pool_).value());
  EXPECT_TRUE(deployment->change_to(replicas, *pool_).value());
  EXPECT_DOUBLE_EQ(answer(*deployment), 8.0 * test::kFakeOperators);
  deployment.reset();
  expect_nothing_left();
}

TEST_F(DeploymentTest, SendsAWeightOnceAndLoadsAShardOnce) {
  auto first = open(plan({3})).value();
  auto second = open(plan({3})).value();
  EXPECT_EQ(daemons_[0]->loads(), 1);
  EXPECT_EQ(daemons_[0]->weights_sent_bytes(), 3 * test::kFakeWeightBytes);
  auto other = open(plan({5})).value();
  EXPECT_EQ(daemons_[0]->loads(), 2);
  EXPECT_EQ(daemons_[0]->weights_sent_bytes(), 5 * test::kFakeWeightBytes);
  EXPECT_EQ(daemons_[1]->weights_sent_bytes(), 7 * test::kFakeWeightBytes);
  EXPECT_DOUBLE_EQ(answer(*second), 80);
  first.reset();
  second.reset();
  other.reset();
  EXPECT_EQ(daemons_[0]->loaded_shards(), 2U);
  pool_.reset();
  EXPECT_EQ(daemons_[0]->loaded_shards(), 0U);
  EXPECT_EQ(daemons_[1]->loaded_shards(), 0U);
}

TEST_F(DeploymentTest, EachStageIsLoadedWithItsOwnSettings) {
  using control::ShardSettings;
  plan::Plan mixed = plan({3});
  mixed.batch = 8;
  mixed.micro_batch = 2;
  mixed.settings.threads = 1;
  mixed.stages[1].settings = {"plain", "bf16", 2, 0.1};
  auto deployment = open(mixed).value();
  EXPECT_THAT(daemons_[0]->load_settings(), ElementsAre(ShardSettings{{"auto", "fp32", 1}, 2}));
  EXPECT_THAT(daemons_[1]->load_settings(),
              ElementsAre(ShardSettings{{"plain", "bf16", 2, 0.1}, 2}));
  // The same pipeline runs the shard of other settings.
  mixed.stages[1].settings->threads = 4;
  EXPECT_TRUE(deployment->change_to(mixed, *pool_).value());
  EXPECT_EQ(daemons_[0]->loads(), 1);
  EXPECT_EQ(daemons_[1]->load_settings().back().threads, 4);
  EXPECT_DOUBLE_EQ(answer(*deployment), 80);
}

TEST_F(DeploymentTest, ShardsOfOtherOperatorsAreOthers) {
  plan::Plan one = plan({5});
  plan::Plan two = one;
  // As many operators before the cut, but not the same ones.
  two.stages[0].operators = {{0, 3}, {8, 10}};
  two.stages[1].operators = {{3, 8}};
  auto first = open(one).value();
  auto second = open(two).value();
  EXPECT_EQ(daemons_[0]->loads(), 2);
  EXPECT_EQ(daemons_[0]->weights_sent_bytes(), 7 * test::kFakeWeightBytes) << "each weight once";
  EXPECT_DOUBLE_EQ(answer(*second), 80);
  auto again = open(two).value();
  EXPECT_EQ(daemons_[0]->loads(), 2);
}

TEST_F(DeploymentTest, UnloadsWhatNobodyHoldsWhereMemoryIsShort) {
  daemons_[0]->set_memory_limit(12 * test::kFakeWeightBytes);
  ASSERT_TRUE(open(plan({4})));
  ASSERT_TRUE(open(plan({5})));
  auto held = open(plan({6})).value();
  EXPECT_LE(daemons_[0]->loaded_shards(), 2U);
  // What is held stays; the next one finds no room.
  const auto refused = open(plan({8}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
  EXPECT_DOUBLE_EQ(answer(*held), 80);
  held.reset();
  EXPECT_TRUE(open(plan({8})));
}

TEST_F(DeploymentTest, WeightsThatOtherShardsHoldNeedNoRoom) {
  daemons_[0]->set_memory_limit(20 * test::kFakeWeightBytes);
  for (const std::int64_t cut : {4, 5, 6}) ASSERT_TRUE(open(plan({cut})));
  EXPECT_EQ(daemons_[0]->loaded_shards(), 3U) << "of the third a sixth is new";
  plan::Plan other = plan({6});
  other.settings.precision = "bf16";
  ASSERT_TRUE(open(other));
  EXPECT_LT(daemons_[0]->loaded_shards(), 4U) << "packed in another way all of it is";
}

TEST_F(DeploymentTest, AShardLargerThanTheDeviceFailsNamingIt) {
  daemons_[1]->set_memory_limit(2 * test::kFakeWeightBytes);
  const auto refused = open(plan({3}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(refused.error().message, HasSubstr("stage 1: b: over the memory limit"));
  expect_nothing_left();
}

TEST_F(DeploymentTest, NamesTheCodecsThatAPlanLeavesOpen) {
  daemons_[1]->set_codec_costs({{.codec = "none", .bytes = 200}, {.codec = "lz4", .bytes = 100}},
                               {});
  plan::Plan open_plan = plan({2, 7});
  open_plan.splits = {"first", "second"};
  open_plan.codecs = {"fp16", "auto"};
  auto deployment = open(open_plan).value();
  EXPECT_THAT(deployment->codecs(), testing::ElementsAre("fp16", "lz4"));
  EXPECT_THAT(daemons_[0]->codecs(), testing::ElementsAre("fp16"));
  EXPECT_THAT(daemons_[1]->codecs(), testing::ElementsAre("lz4"));
  EXPECT_DOUBLE_EQ(answer(*deployment), 80);
}

TEST_F(DeploymentTest, EachLinkHasItsTransport) {
  for (test::FakeDaemon* daemon : daemons_) daemon->serve("tcp");
  daemons_[1]->serve("shm");
  daemons_[2]->serve("grpc");
  plan::Plan mixed = plan({2, 7});
  mixed.splits = {"first", "second"};
  mixed.set_transports({"memory", "shm", "tcp", "grpc"});
  auto deployment = open(mixed).value();
  EXPECT_DOUBLE_EQ(answer(*deployment), 80);
  EXPECT_THAT(daemons_[0]->transports(), testing::ElementsAre("memory>shm"));
  EXPECT_THAT(daemons_[1]->transports(), testing::ElementsAre("shm>tcp"));
  EXPECT_THAT(daemons_[2]->transports(), testing::ElementsAre("tcp>grpc"));
  // Who connects need not listen: the first serves no shm. The sink's is asked of the last stage.
  mixed.set_transports({"memory", "grpc", "tcp", "grpc"});
  EXPECT_THAT(open(mixed).error().message,
              HasSubstr("b has no data address for transport \"grpc\""));
  mixed.set_transports({"memory", "shm", "tcp", "shm"});
  EXPECT_THAT(open(mixed).error().message,
              HasSubstr("c has no data address for transport \"shm\""));
}

TEST_F(DeploymentTest, RunsAnotherPlanOverTheSameLinks) {
  auto deployment = open(plan({2, 7})).value();
  const std::uint64_t pipeline = deployment->pipeline();
  EXPECT_DOUBLE_EQ(answer(*deployment), 80);
  ASSERT_TRUE(deployment->change_to(plan({5, 6}), *pool_).value());
  EXPECT_DOUBLE_EQ(answer(*deployment), 80);
  EXPECT_EQ(deployment->pipeline(), pipeline);
  EXPECT_EQ(deployment->shards()[0]->end, 5);
  EXPECT_EQ(deployment->shards()[2]->begin, 6);
  for (const test::FakeDaemon* daemon : daemons_) EXPECT_EQ(daemon->stages_opened(), 1);
}

TEST_F(DeploymentTest, DoesNotRunAPlanThatWantsOtherLinks) {
  auto deployment = open(plan({2, 7})).value();
  EXPECT_FALSE(deployment->change_to(plan({2}), *pool_).value()) << "fewer devices";
  plan::Plan other = plan({2, 7});
  std::swap(other.stages[0].device, other.stages[1].device);
  EXPECT_FALSE(deployment->change_to(other, *pool_).value()) << "in another order";
  other = plan({2, 7});
  other.splits = {"first", "second"};
  other.codecs = {"fp16", "none"};
  EXPECT_FALSE(deployment->change_to(other, *pool_).value()) << "another codec";
  other.codecs.clear();
  other.set_transports({"memory", "tcp", "memory", "memory"});
  EXPECT_FALSE(deployment->change_to(other, *pool_).value()) << "another transport";
  EXPECT_DOUBLE_EQ(answer(*deployment), 80) << "nothing has changed";
  daemons_[1]->fail_changes(Error{ErrorCode::kExhausted, "b: the link is cold"});
  const auto failed = deployment->change_to(plan({5, 6}), *pool_);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(failed.error().message, HasSubstr("stage 1: b: the link is cold"));
}

TEST_F(DeploymentTest, UndoesEverythingWhereAStageFails) {
  daemons_[0]->fail_start(Error{ErrorCode::kInternal, "a: no threads"});
  const auto failed = open(plan({2, 7}));
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("stage 0: a: no threads"));
  expect_nothing_left();
  daemons_[0]->fail_start(std::nullopt);
  EXPECT_DOUBLE_EQ(answer(*open(plan({2, 7})).value()), 80);
}

TEST_F(DeploymentTest, ADeadDeviceIsNamed) {
  daemons_[1]->die();
  const auto failed = open(plan({3}));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(failed.error().message, HasSubstr("b"));
  EXPECT_EQ(daemons_[0]->open_stages(), 0U);
}

TEST_F(DeploymentTest, UnknownDevicesAndTransportsAreNamed) {
  plan::Plan unknown = plan({3});
  unknown.stages[1].device = "bb";
  const auto device = open(unknown);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(device.error().message, HasSubstr("bb"));
  plan::Plan carrier = plan({3});
  carrier.transport = "pigeon";
  const auto transport = open(carrier);
  ASSERT_FALSE(transport);
  EXPECT_THAT(transport.error().message, HasSubstr("memory"));
}

TEST_F(DeploymentTest, AWeightThatTheStoreDroppedIsSentAgain) {
  { auto first = open(plan({3})).value(); }
  daemons_[0]->forget_tensors();
  EXPECT_DOUBLE_EQ(answer(*open(plan({2})).value()), 80);
}

}  // namespace
}  // namespace pareto::cluster
