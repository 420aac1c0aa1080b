#include "coordinator/sweep/condition_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/sweep/fake_network.h"

namespace pareto::sweep {
namespace {

TEST(ConditionGate, TellsWhatTheNetworkWasMeasuredToBeLike) {
  FakeNetwork network;
  ConditionGate gate(&network);
  const auto alone = gate.enter("lte");
  ASSERT_TRUE(alone) << alone.error().message;
  ASSERT_TRUE(*alone);
  EXPECT_EQ((*alone)->round_trip_ms, 40);
  EXPECT_EQ((*alone)->emulator, "tc");
  EXPECT_FALSE((*alone)->forward_loss) << "without probes nothing could be lost";
  network.probes = 100;
  const auto probed = gate.enter("lte");
  EXPECT_EQ((*probed)->forward_loss, 0.25);
  EXPECT_FALSE((*probed)->backward_loss);
}

TEST(ConditionGate, AnUnchangedNetworkHasNoFigures) {
  FakeNetwork network;
  network.made_by.clear();
  ConditionGate gate(&network);
  const auto entered = gate.enter("lte");
  ASSERT_TRUE(entered) << entered.error().message;
  EXPECT_FALSE(*entered);
}

TEST(ConditionGate, RefusesWhatItNeverHad) {
  FakeNetwork network;
  ConditionGate gate(&network);
  EXPECT_FALSE(gate.any_refused());
  const auto entered = gate.enter("unreachable");
  ASSERT_FALSE(entered);
  EXPECT_EQ(entered.error().message, "not what was asked for");
  EXPECT_TRUE(gate.is_refused("unreachable"));
  EXPECT_TRUE(gate.any_refused());
  ASSERT_TRUE(gate.enter("lte"));
  EXPECT_FALSE(gate.is_refused("lte"));
}

TEST(ConditionGate, DoesNotRefuseWhatItHadBefore) {
  FakeNetwork network;
  ConditionGate gate(&network);
  ASSERT_TRUE(gate.enter("flaky"));
  ASSERT_FALSE(gate.enter("flaky"));
  EXPECT_FALSE(gate.is_refused("flaky"));
  EXPECT_TRUE(gate.enter("flaky"));
}

TEST(ConditionGate, SeesWhetherTheConditionHeld) {
  FakeNetwork network;
  ConditionGate gate(&network);
  ASSERT_TRUE(gate.enter("overloaded"));
  ASSERT_FALSE(gate.check());
  ASSERT_TRUE(gate.rest());
  EXPECT_EQ(network.applied.back(), "none");
  EXPECT_TRUE(gate.check());
}

TEST(ConditionGate, WithoutANetworkThereIsNoneToChange) {
  ConditionGate gate(nullptr);
  const auto left = gate.enter(cluster::Network::kNone);
  ASSERT_TRUE(left) << left.error().message;
  EXPECT_FALSE(*left);
  EXPECT_TRUE(gate.check());
  EXPECT_TRUE(gate.rest());
  EXPECT_FALSE(gate.enter("lte"));
  EXPECT_TRUE(gate.is_refused("lte"));
}

}  // namespace
}  // namespace pareto::sweep
