#include "coordinator/profile/shard_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/support/fake_devices.h"
#include "tests/coordinator/support/fake_workload.h"

namespace pareto::profile {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr plan::OperatorRange kWhole{0, 10};
constexpr plan::OperatorRange kFirst{0, 4};
constexpr plan::OperatorRange kSecond{4, 10};

class ShardRoomTest : public testing::Test {
 protected:
  ShardRoomTest() { request_.model = "ten"; }

  Expected<StageMeter*> opened(const plan::OperatorRange& range) {
    PARETO_ASSIGN(const cluster::ShardLease lease, room_.load(range));
    if (!lease) return nullptr;
    return room_.open(range);
  }

  test::MemoryTransport transport_;
  cluster::TransportSet transports_{test::sharing(transport_)};
  std::vector<test::FakeDaemon*> daemons_;
  const cluster::Cluster cluster_ =
      cluster::Cluster::of(test::fake_devices({"pi"}, transport_, daemons_));
  test::FakeWorkload workload_;
  cluster::ShardPool pool_{workload_};
  const std::vector<planning::ProbedTransport> probed_;
  const ProfileBench bench_{cluster_, pool_, transports_, probed_, Value{}};
  ProfileRequest request_;
  ShardRoom room_{bench_, request_, cluster_.device(0), "memory"};
};

TEST_F(ShardRoomTest, WithRoomForAllEachStaysOpen) {
  for (const plan::OperatorRange& range : {kWhole, kFirst, kSecond}) {
    const auto stage = opened(range);
    ASSERT_TRUE(stage) << stage.error().message;
    EXPECT_EQ((*stage)->shard().begin, range.begin);
  }
  EXPECT_NE(room_.find(kWhole), nullptr);
  EXPECT_NE(room_.find(kFirst), nullptr);
  room_.close_all_but(kFirst);
  EXPECT_EQ(room_.find(kWhole), nullptr);
  EXPECT_NE(room_.find(kFirst), nullptr);
  EXPECT_TRUE(room_.too_large().empty());
}

TEST_F(ShardRoomTest, ClosesOthersForWhatHasRoomAlone) {
  daemons_[0]->set_memory_limit(11 * test::kFakeWeightBytes);
  ASSERT_NE(opened(kWhole).value(), nullptr);
  EXPECT_EQ(room_.load_beside(kFirst).value(), nullptr);
  EXPECT_NE(room_.find(kWhole), nullptr) << "it asked for no more than what is free";
  ASSERT_NE(opened(kFirst).value(), nullptr);
  EXPECT_EQ(room_.find(kWhole), nullptr);
  EXPECT_TRUE(room_.too_large().empty());
}

TEST_F(ShardRoomTest, RemembersAndNamesWhatIsTooLarge) {
  daemons_[0]->set_memory_limit(3 * test::kFakeWeightBytes);
  EXPECT_EQ(opened(kWhole).value(), nullptr);
  EXPECT_EQ(opened(kFirst).value(), nullptr);
  EXPECT_THAT(room_.too_large(), ElementsAre(kFirst, kWhole));
  daemons_[0]->set_memory_limit(0);
  EXPECT_EQ(opened(kFirst).value(), nullptr) << "it is not tried again";
  const auto none = room_.no_room();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(none.error().message, AllOf(HasSubstr("pi has no room for any part of ten"),
                                          HasSubstr("the smallest, operators 0 to 4")));
}

TEST_F(ShardRoomTest, TakesOverWhatAnEarlierProfileFoundTooLarge) {
  plan::DeviceProfile known;
  known.too_large = {kWhole};
  room_.take_over(known);
  EXPECT_TRUE(room_.is_too_large(kWhole));
  EXPECT_EQ(opened(kWhole).value(), nullptr);
  EXPECT_NE(opened(kSecond).value(), nullptr);
}

}  // namespace
}  // namespace pareto::profile
