#include "client/report/objective_text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pareto::report {
namespace {

TEST(ObjectiveText, ShowsSmallFiguresAndBytes) {
  EXPECT_EQ(objective_text(0.001224, "money"), "0.00122");
  EXPECT_EQ(objective_text(0, "money"), "0");
  EXPECT_EQ(objective_text(12.5, "mJ"), "12.50");
  EXPECT_EQ(objective_text(1536, "B"), "1.50 KiB");
  EXPECT_EQ(objective_text(std::nan(""), "B"), "-");
}

TEST(ObjectiveText, NamesTheUnitIfNothingElseDoes) {
  EXPECT_EQ(objective_column("energy", "mJ"), "energy mJ");
  EXPECT_EQ(objective_column("memory", "B"), "memory");
  EXPECT_EQ(objective_column("cost", "money"), "cost");
}

}  // namespace
}  // namespace pareto::report
