#include "client/commands/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::client {
namespace {

using testing::HasSubstr;

TEST(Flags, ABudgetIsOfSecondsMinutesOrHours) {
  EXPECT_EQ(parse_budget("90s").value(), 90);
  EXPECT_EQ(parse_budget("5m").value(), 300);
  EXPECT_EQ(parse_budget("5min").value(), 300);
  EXPECT_EQ(parse_budget("1.5h").value(), 5400);
  for (const char* text : {"", "5", "soon", "m", "-5m"}) {
    EXPECT_THAT(parse_budget(text).error().message, HasSubstr("--budget")) << text;
  }
  for (const char* text : {"0s", "0m", "0h"}) {
    EXPECT_THAT(parse_budget(text).error().message, HasSubstr("leaves no time")) << text;
  }
}

}  // namespace
}  // namespace pareto::client
