#include "client/commands/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace pareto::client::commands {
namespace {

using testing::HasSubstr;

class SetClock final : public Clock {
 public:
  TimePoint now() const override { return time; }
  TimePoint time{std::chrono::hours(1)};
};

TEST(Progress, OffATerminalALineNowAndThen) {
  std::ostringstream err;
  SetClock clock;
  {
    Progress progress(err, 0, clock);
    progress.show(3, 4, "probing pi-1 to pi-2, tcp", "");
    progress.show(4, 4, "probing pi-2 to pi-1, tcp", "");
    for (std::size_t i = 0; i <= 300; ++i) {
      progress.show(i, 300, i < 150 ? "round 1/2" : "round 2/2", "trial " + std::to_string(i));
      clock.time += std::chrono::seconds(1);
    }
  }
  EXPECT_EQ(err.str(),
            "probing pi-1 to pi-2, tcp (3/4 done, 0 s so far)\n"
            "round 1/2 (0/300 done, 0 s so far)\n"
            "round 1/2 (10/300 done, 10 s so far)\n"
            "round 1/2 (20/300 done, 20 s so far)\n"
            "round 1/2 (40/300 done, 40 s so far)\n"
            "round 1/2 (80/300 done, 80 s so far)\n"
            "round 1/2 (140/300 done, 2 min so far)\n"
            "round 2/2 (200/300 done, 3 min so far)\n"
            "round 2/2 (260/300 done, 4 min so far)\n");
}

TEST(Progress, OfABudgetTheMostThatIsLeftIsSaid) {
  std::ostringstream err;
  Progress progress(err, 0);
  progress.show(31, 300, "12 of 90 plans measured", "", 269);
  EXPECT_THAT(err.str(), HasSubstr("(31/300 s done, at most 4 min left)"));
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
}  // namespace pareto::client::commands
