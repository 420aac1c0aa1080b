#include "client/commands/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace pareto::client {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Pace, IsThatSinceItWasFirstSeen) {
  const TimePoint start{std::chrono::hours(1)};
  Pace pace;
  EXPECT_FALSE(pace.seconds_left(start, 300));
  pace.see(start, 200);
  EXPECT_FALSE(pace.seconds_left(start, 300)) << "what was done before says nothing";
  pace.see(start + std::chrono::seconds(5), 205);
  EXPECT_EQ(pace.seconds_left(start + std::chrono::seconds(5), 300), 95);
  EXPECT_EQ(pace.seconds_left(start + std::chrono::seconds(5), 100), 0) << "more is done";
}

TEST(Pace, OfWhatBeginsAnewIsItsOwn) {
  const TimePoint start{std::chrono::hours(1)};
  Pace pace;
  pace.see(start, 0);
  pace.see(start + std::chrono::seconds(150), 48);
  pace.see(start + std::chrono::seconds(150), 0);
  pace.see(start + std::chrono::seconds(152), 1);
  EXPECT_EQ(pace.seconds_left(start + std::chrono::seconds(152), 4), 6);
}

TEST(Progress, OffATerminalALineAPhaseAndATenth) {
  std::ostringstream err;
  {
    Progress progress(err, 0);
    for (std::size_t i = 0; i <= 300; ++i) {
      progress.show(i, 300, i < 150 ? "round 1/2" : "round 2/2", "trial " + std::to_string(i));
    }
  }
  const std::string text = err.str();
  EXPECT_EQ(std::ranges::count(text, '\n'), 11);
  EXPECT_THAT(text, HasSubstr("round 1/2 (0/300 done)"));
  EXPECT_THAT(text, HasSubstr("round 2/2 (150/300 done, "));
  EXPECT_THAT(text, HasSubstr("s left"));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
}

TEST(Progress, OnATerminalOneLineThatFitsAndGoesAway) {
  std::ostringstream err;
  {
    Progress progress(err, 60);
    progress.show(1, 3, "round 1/1", "a name that is much longer than what is left of the line");
    progress.show(2, 3, "round 1/1", "b");
  }
  const std::string text = err.str();
  EXPECT_EQ(std::ranges::count(text, '\n'), 0);
  EXPECT_TRUE(text.ends_with("\r\x1b[K"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line, '\r');) {
    EXPECT_LE(line.size(), 60 + std::string("\x1b[K").size()) << line;
  }
}

}  // namespace
}  // namespace pareto::client
