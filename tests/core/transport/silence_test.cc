#include "core/transport/silence.h"

#include <gtest/gtest.h>

namespace pareto::transport {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Nanoseconds kNone{0};

TEST(Patience, IsAsLongAsBeatsTheWayAndItsSlowestTimesSay) {
  EXPECT_EQ(patience_for(kBeat, kNone, kNone), kLeastPatience);
  EXPECT_EQ(patience_for(kBeat, milliseconds(40), milliseconds(300)), kLeastPatience);
  EXPECT_EQ(patience_for(seconds(1), kNone, kNone), seconds(8));
  EXPECT_EQ(patience_for(kBeat, milliseconds(400), kNone), milliseconds(4800));
  EXPECT_EQ(patience_for(kBeat, kNone, seconds(1)), seconds(4));
  EXPECT_EQ(patience_for(kLongestBeat, seconds(60), seconds(60)), kMostPatience);
}

/// A peer and its silence, in steps of a beat.
class Silences : public testing::Test {
 protected:
  bool miss(Nanoseconds took = kBeat) {
    now_ += took;
    return silence_.missed(kBeat, took, kNone);
  }
  void hear(Nanoseconds after = kNone) {
    silence_.heard(now_, now_ + after);
    now_ += after;
  }

  Silence silence_{kBeat};
  TimePoint now_{seconds(1000)};
};

TEST_F(Silences, APeerThatSaysNothingForAsLongIsLost) {
  for (int i = 1; i < 8; ++i) EXPECT_FALSE(miss()) << i;
  EXPECT_EQ(silence_.length(), 7 * kBeat);
  EXPECT_TRUE(miss());
}

TEST_F(Silences, AnyByteBeginsAgain) {
  for (int i = 1; i < 8; ++i) EXPECT_FALSE(miss());
  hear(milliseconds(1));
  EXPECT_EQ(silence_.length(), kNone);
  // It was slow once: four times 1.75 s.
  for (int i = 1; i < 28; ++i) EXPECT_FALSE(miss()) << i;
  miss();
  EXPECT_TRUE(miss());
}

TEST_F(Silences, WhoOversleepsDoesNotJudgeByIt) {
  // This process was stopped for a minute in each of these waits.
  for (int i = 1; i < 8; ++i) EXPECT_FALSE(miss(seconds(60)));
  EXPECT_TRUE(miss(seconds(60)));
}

TEST_F(Silences, WaitsOfNoLengthCountNothing) {
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(silence_.missed(milliseconds(-5), kNone, kNone));
  EXPECT_EQ(silence_.length(), kNone);
}

TEST_F(Silences, ASlowTimeIsForgotten) {
  hear(seconds(1));
  EXPECT_EQ(silence_.patience(kNone), seconds(4));
  now_ += Silence::kRemembered + seconds(1);
  hear(milliseconds(1));
  EXPECT_EQ(silence_.patience(kNone), seconds(4)) << "of the period before";
  now_ += Silence::kRemembered + seconds(1);
  hear(milliseconds(1));
  EXPECT_EQ(silence_.patience(kNone), kLeastPatience);
}

TEST_F(Silences, AMessageThatWasThereAlreadyIsNoSilence) {
  silence_.heard(now_, now_ - seconds(5));
  EXPECT_EQ(silence_.patience(kNone), kLeastPatience);
}

}  // namespace
}  // namespace pareto::transport
