#include "coordinator/cluster/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/cluster/deployment.h"
#include "tests/coordinator/support/fake_devices.h"
#include "tests/coordinator/support/fake_workload.h"

namespace pareto::cluster {
namespace {

using testing::HasSubstr;

/// Two stages, on a and b.
class PipelineTest : public testing::Test {
 protected:
  PipelineTest() {
    for (std::size_t i = 0; i < cluster_.size(); ++i) {
      const auto begin = static_cast<std::int64_t>(5 * i);
      devices_.push_back(&cluster_.device(i));
      shards_.push_back(pool_.acquire(cluster_.device(i), begin, begin + 5, {}).value());
    }
  }

  Pipeline pipeline(std::size_t first, std::size_t end, std::size_t first_link) {
    return {{options_, devices_, shards_, codecs_, transports_of_links_, round_trips_},
            77,
            first,
            end,
            first_link};
  }

  test::FakeWorkload workload_;
  test::MemoryTransport transport_;
  TransportSet transports_{test::sharing(transport_)};
  std::vector<test::FakeDaemon*> daemons_;
  Cluster cluster_ = Cluster::of(test::fake_devices({"a", "b"}, transport_, daemons_));
  ShardPool pool_{workload_};
  const DeploymentOptions options_;
  std::vector<DaemonClient*> devices_;
  std::vector<ShardLease> shards_;
  const std::vector<std::string> codecs_;
  const std::vector<std::string> transports_of_links_ = std::vector<std::string>(4, "memory");
  std::vector<Nanoseconds> round_trips_ = std::vector<Nanoseconds>(4);
};

TEST_F(PipelineTest, OpensPrimesAndLeavesNothing) {
  Pipeline chain = pipeline(0, 2, 0);
  const auto opened = chain.open(transports_);
  ASSERT_TRUE(opened) << opened.error().message;
  for (const test::FakeDaemon* daemon : daemons_) EXPECT_EQ(daemon->open_stages(), 1U);
  ASSERT_TRUE(chain.prime());
  EXPECT_EQ(round_trips_[1], Nanoseconds(1000)) << "as stage 0 says";
  EXPECT_GT(round_trips_[0], Nanoseconds(0));
  EXPECT_GT(round_trips_[2], Nanoseconds(0));
  EXPECT_EQ(round_trips_[3], Nanoseconds(0)) << "the plan has it, this pipeline has not";
  EXPECT_EQ(chain.id(), 77U);
  EXPECT_EQ(chain.last(), 1U);
  EXPECT_EQ(chain.number_of(1), 1U);
  EXPECT_EQ(chain.link_into(1), 1U);
  chain.leave(false);
  chain.close_stages();
  for (const test::FakeDaemon* daemon : daemons_) EXPECT_EQ(daemon->open_stages(), 0U);
}

TEST_F(PipelineTest, AReplicaIsAPipelineOfOneStageWithTheNumbersOfThePlan) {
  Pipeline replica = pipeline(1, 2, 2);
  EXPECT_EQ(replica.first(), 1U);
  EXPECT_EQ(replica.last(), 1U);
  EXPECT_EQ(replica.number_of(1), 0U) << "as its device knows it";
  EXPECT_EQ(replica.link_into(1), 2U);
  ASSERT_TRUE(replica.open(transports_));
  ASSERT_TRUE(replica.prime());
  EXPECT_EQ(daemons_[0]->open_stages(), 0U);
  EXPECT_EQ(daemons_[1]->open_stages(), 1U);
  replica.leave(true);
  replica.close_stages();
  EXPECT_EQ(daemons_[1]->open_stages(), 0U);
}

TEST_F(PipelineTest, ClosesWhatItOpenedIfAStageFails) {
  daemons_[0]->die();
  Pipeline chain = pipeline(0, 2, 0);
  const auto opened = chain.open(transports_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(opened.error().message, HasSubstr("stage 0"));
  EXPECT_EQ(daemons_[1]->open_stages(), 1U) << "the last stage opens first";
  chain.leave(true);
  chain.close_stages();
  EXPECT_EQ(daemons_[1]->open_stages(), 0U);
}

TEST_F(PipelineTest, AnUnopenedOneClosesNothing) {
  Pipeline chain = pipeline(0, 2, 0);
  chain.leave(false);
  chain.close_stages();
  EXPECT_EQ(daemons_[0]->stages_opened() + daemons_[1]->stages_opened(), 0);
}

}  // namespace
}  // namespace pareto::cluster
