#include "coordinator/cluster/remote_network.h"

#include <gmock/gmock.h>

#include "tests/coordinator/support/fake_daemon.h"
#include "tests/coordinator/support/memory_transport.h"

namespace pareto::cluster {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr double kMegabit = 1e6 / 8 * 1448 / 1500;  // bytes of payload

class RemoteNetworkTest : public testing::Test {
 protected:
  RemoteNetworkTest() {
    slow_.forward.delay = milliseconds(20);
    slow_.forward.bits_per_second = 10'000'000;
    slow_.backward.delay = milliseconds(5);
    for (test::FakeDaemon* device : {&first_, &second_}) {
      device->set_netem_interface("eth1");
      device->serve_tcp();
    }
    measure_as(1000, milliseconds(1));
  }
  void measure_as(double megabits, Nanoseconds round_trip) {
    for (test::FakeDaemon* device : {&first_, &second_}) {
      device->set_rate(megabits * kMegabit);
      device->set_round_trip(round_trip);
    }
  }
  std::unique_ptr<RemoteNetwork> network() {
    return RemoteNetwork::create({{"slow", slow_}}, {&first_, &second_}).value();
  }

  test::MemoryTransport transport_;
  test::FakeDaemon first_{"first", transport_};
  test::FakeDaemon second_{"second", transport_};
  plan::Condition slow_;
};

TEST_F(RemoteNetworkTest, EachDeviceDoesWhatLeavesIt) {
  const auto network = this->network();
  ASSERT_TRUE(network->apply("none"));
  EXPECT_FALSE(first_.emulated());
  measure_as(10, milliseconds(26));
  const auto link = network->apply("slow");
  ASSERT_TRUE(link) << link.error().message;
  EXPECT_EQ(link->round_trip, milliseconds(26));
  ASSERT_TRUE(first_.emulated() && second_.emulated());
  EXPECT_EQ(first_.emulated()->interface, "eth1");
  EXPECT_EQ(first_.emulated()->name, "slow");
  EXPECT_EQ(first_.emulated()->condition.forward, slow_.forward);
  EXPECT_EQ(first_.emulated()->condition.backward, plan::LinkDirection{});
  EXPECT_EQ(second_.emulated()->condition.forward, slow_.backward);
  ASSERT_TRUE(network->apply("none"));
  EXPECT_FALSE(first_.emulated());
  EXPECT_FALSE(second_.emulated());
}

TEST_F(RemoteNetworkTest, OneDeviceAloneDoesBothDirections) {
  first_.set_netem_interface("");
  const auto network = this->network();
  measure_as(10, milliseconds(25));
  ASSERT_TRUE(network->apply("slow"));
  EXPECT_FALSE(first_.emulated());
  ASSERT_TRUE(second_.emulated());
  EXPECT_EQ(second_.emulated()->condition.forward, slow_.backward) << "what leaves the second";
  EXPECT_EQ(second_.emulated()->condition.backward, slow_.forward);
}

TEST_F(RemoteNetworkTest, AConditionThatIsNotReachedFails) {
  const auto network = this->network();
  ASSERT_TRUE(network->apply("none"));
  const auto link = network->apply("slow");
  ASSERT_FALSE(link) << "all is as before";
  EXPECT_THAT(link.error().message, HasSubstr("network slow"));
  EXPECT_THAT(network->apply("slo").error().message, HasSubstr("slow"));
}

TEST_F(RemoteNetworkTest, ARateThatVariesIsJudgedByItsBoundAlone) {
  slow_.forward.jitter.deviation = milliseconds(2);
  slow_.backward = slow_.forward;
  const auto network = this->network();
  ASSERT_TRUE(network->apply("none"));
  measure_as(6, milliseconds(41));
  EXPECT_TRUE(network->apply("slow")) << "slower than asked, as jitter makes TCP";
}

TEST_F(RemoteNetworkTest, LeasesAreRenewedUntilItEnds) {
  {
    const auto network = this->network();
    measure_as(10, milliseconds(25));
    ASSERT_TRUE(network->apply("slow"));
    EXPECT_TRUE(first_.wait_for_renewals(3));
    EXPECT_TRUE(second_.wait_for_renewals(3));
    EXPECT_TRUE(network->check());
  }
  EXPECT_FALSE(first_.emulated());
}

TEST_F(RemoteNetworkTest, ALostLeaseIsTold) {
  const auto network = this->network();
  measure_as(10, milliseconds(25));
  ASSERT_TRUE(network->apply("slow"));
  first_.forget_emulation();
  // The second is asked after the first: by its next renewal but one, the first has been.
  EXPECT_TRUE(second_.wait_for_renewals(second_.renewals() + 2));
  const auto held = network->check();
  ASSERT_FALSE(held);
  EXPECT_THAT(held.error().message, HasSubstr("ran out"));
  ASSERT_TRUE(network->apply("slow")) << "taken again";
  EXPECT_TRUE(first_.emulated());
  EXPECT_TRUE(network->check());
}

TEST_F(RemoteNetworkTest, ADeviceThatRefusesIsNoNetwork) {
  const auto network = this->network();
  ASSERT_TRUE(second_.emulate({"eth1", {}, "another's", false}));
  EXPECT_FALSE(network->apply("slow"));
  EXPECT_THAT(network->apply("slow").error().message, HasSubstr("another coordinator"));
  EXPECT_FALSE(first_.emulated()) << "one device alone makes no condition";
  ASSERT_TRUE(network->apply("none"));
  EXPECT_FALSE(first_.emulated());
}

TEST_F(RemoteNetworkTest, NeedsADeviceThatMayBeChanged) {
  first_.set_netem_interface("");
  second_.set_netem_interface("");
  const auto none = RemoteNetwork::create({}, {&first_, &second_});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("allow_netem"));
  EXPECT_THAT(none.error().message, HasSubstr("PARETO_DEVICES"));
}

}  // namespace
}  // namespace pareto::cluster
