#include "core/base/pause.h"

#include <gtest/gtest.h>

#include <thread>

namespace pareto {
namespace {

/// Pauses that are counted.
class Counted final : public Pauser {
 public:
  bool is_wanted() const override { return wanted; }
  bool pause() override {
    ++pauses;
    return goes_on;
  }

  bool wanted = true;
  bool goes_on = true;
  int pauses = 0;
};

TEST(Pause, WorkGoesOnIfNobodyAsks) {
  EXPECT_TRUE(pause_if_wanted());
  Counted pauser;
  pauser.wanted = false;
  pauser.goes_on = false;
  const PauseScope scope(&pauser);
  EXPECT_TRUE(pause_if_wanted());
  EXPECT_EQ(pauser.pauses, 0);
}

TEST(Pause, WhoPausesMayEndTheWork) {
  Counted pauser;
  const PauseScope scope(&pauser);
  EXPECT_TRUE(pause_if_wanted());
  pauser.goes_on = false;
  EXPECT_FALSE(pause_if_wanted());
  EXPECT_EQ(pauser.pauses, 2);
}

TEST(Pause, ScopesAreOfTheirThreadAndNest) {
  Counted pauser;
  pauser.goes_on = false;
  const PauseScope outer(&pauser);
  {
    const PauseScope inner(nullptr);
    EXPECT_TRUE(pause_if_wanted());
  }
  EXPECT_FALSE(pause_if_wanted());
  bool other = false;
  std::jthread([&] { other = pause_if_wanted(); }).join();
  EXPECT_TRUE(other);
}

}  // namespace
}  // namespace pareto
