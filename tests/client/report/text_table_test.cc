#include "client/report/text_table.h"

#include <gtest/gtest.h>

namespace pareto::report {
namespace {

TEST(Paragraph, FitsTheWidthAndIndentsAllLinesButTheFirst) {
  ReportStyle style;
  style.width = 10;
  EXPECT_EQ(paragraph("one two three four", RowStyle::kPlain, style),
            "one two\n"
            "three four\n");
  EXPECT_EQ(paragraph("one two three four", RowStyle::kPlain, style, 2),
            "one two\n"
            "  three\n"
            "  four\n");
  EXPECT_EQ(paragraph("", RowStyle::kPlain, style), "");
  style.width = 0;
  EXPECT_EQ(paragraph("as  wide as\nit is", RowStyle::kPlain, style, 2), "as wide as it is\n");
}

TEST(Paragraph, ColoursEachLineByItself) {
  ReportStyle style;
  style.width = 5;
  style.colour = true;
  EXPECT_EQ(paragraph("one two", RowStyle::kBad, style, 1),
            "\x1b[31mone\x1b[0m\n\x1b[31m two\x1b[0m\n");
}

}  // namespace
}  // namespace pareto::report
