#include "coordinator/profile/shard_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/coordinator/support/fake_devices.h"

namespace pareto::profile {
namespace {

using std::chrono_literals::operator""us;
using testing::ElementsAre;
using testing::SizeIs;

constexpr plan::OperatorRange kAllOperators{0, 10};
constexpr plan::OperatorRange kFirstOperators{0, 4};

cluster::ResidentShard shard(const plan::OperatorRange& range, std::uint64_t memory_bytes) {
  cluster::ResidentShard resident;
  resident.begin = range.begin;
  resident.end = range.end;
  resident.output_bytes = 16;
  resident.loaded.memory_bytes = memory_bytes;
  return resident;
}

class ShardSamplesTest : public testing::Test {
 protected:
  /// A visit of a cut while the machine is `slow` times as slow as at its best.
  void visit(int slow) {
    samples_.add_lone_yardstick(kAllOperators, {slow * 100us, 7us});
    samples_.add_lone(kFirstOperators, {slow * 40us, 5us});
    samples_.add_busy_yardstick({slow * 120us, slow * 130us, {slow * 120e3, slow * 180e3}});
    samples_.add_busy(kFirstOperators, slow * 60us);
  }

  /// A profile over links that take no time.
  plan::DeviceProfile filled(const std::set<plan::OperatorRange>& too_large = {}) const {
    test::MemoryTransport transport;
    const test::FakeDaemon device("a", transport);
    transport::ProbeResult free;
    free.points.resize(1);
    const planning::ProbedLinks links(2, std::vector<transport::ProbeResult>(2, free));
    plan::DeviceProfile profile;
    samples_.fill(kAllOperators, too_large,
                  DeviceLinks::find({{"memory", links}}, device, 0, 1).value(), profile);
    return profile;
  }

  ShardSamples samples_;
};

TEST_F(ShardSamplesTest, AShardIsItsShareOfTheYardstickWhateverTheMachineDoes) {
  samples_.opened(shard(kAllOperators, 1000));
  samples_.opened(shard(kFirstOperators, 300));
  for (const int slow : {1, 1, 1, 3, 3, 3, 1}) visit(slow);
  const plan::DeviceProfile profile = filled();
  ASSERT_THAT(profile.shards, SizeIs(2));
  EXPECT_EQ(profile.shards[0].end, kFirstOperators.end);
  EXPECT_EQ(profile.shards[0].alone, 40us);
  EXPECT_EQ(profile.shards[0].busy, 65us) << "half of the yardstick's interval";
  EXPECT_EQ(profile.shards[0].output_bytes, 16U);
  EXPECT_EQ(profile.shards[1].alone, 100us);
  EXPECT_EQ(profile.shards[1].busy, 130us);
  EXPECT_EQ(profile.overhead, 6us) << "the median of what is beyond computing";
  EXPECT_DOUBLE_EQ(profile.jitter.at(1), 1.5);
}

TEST_F(ShardSamplesTest, TheYardstickIsAsBusyAsWithItsMachineToItself) {
  visit(1);
  samples_.add_unshared_yardstick(110us);
  const plan::DeviceProfile profile = filled();
  EXPECT_EQ(profile.shards[1].busy, 110us);
  EXPECT_EQ(profile.shards[0].busy, 65us);
}

TEST_F(ShardSamplesTest, LeavesOutWhatIsTooLargeOrWasSeenInPart) {
  visit(1);
  EXPECT_THAT(filled({kFirstOperators}).shards, SizeIs(1));
  samples_.opened(shard({4, 10}, 700));
  EXPECT_THAT(filled().shards, SizeIs(2)) << "opened, and never timed";
}

TEST_F(ShardSamplesTest, AShardThatIsLoadedAgainTakesWhatItTookFirst) {
  visit(1);
  samples_.opened(shard(kFirstOperators, 300));
  samples_.opened(shard(kFirstOperators, 20));
  EXPECT_EQ(filled().shards[0].memory_bytes, 300U);
}

TEST_F(ShardSamplesTest, IsSettledOnceItsSharesAgree) {
  EXPECT_TRUE(samples_.is_settled(kFirstOperators)) << "nothing is known of it";
  samples_.add_lone_yardstick(kAllOperators, {100us, 0us});
  samples_.add_busy_yardstick({100us, 100us, {}});
  samples_.add_lone(kFirstOperators, {40us, 0us});
  EXPECT_TRUE(samples_.is_settled(kFirstOperators)) << "of one share nothing is known";
  samples_.add_lone(kFirstOperators, {60us, 0us});
  EXPECT_FALSE(samples_.is_settled(kFirstOperators));
  for (int i = 0; i < 200; ++i) samples_.add_lone(kFirstOperators, {50us, 0us});
  EXPECT_TRUE(samples_.is_settled(kFirstOperators));
}

}  // namespace
}  // namespace pareto::profile
