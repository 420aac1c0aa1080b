#include "client/report/text_table.h"

#include <gmock/gmock.h>
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

TEST(TextTable, AlignsShortensAndDropsColumns) {
  TextTable table({{"name"}, {"n", Align::kRight}, {"note", Align::kLeft, 1}});
  table.add({"größer als gedacht", "1", "kept where there is room"});
  table.add({"a", "1000", ""});
  EXPECT_EQ(table.render({}),
            "name                   n  note\n"
            "größer als gedacht     1  kept where there is room\n"
            "a                   1000\n");
  EXPECT_EQ(table.render({false, 26}),
            "name                   n\n"
            "größer als gedacht     1\n"
            "a                   1000\n"
            "no room for: note (widen\n"
            "the terminal, or add |\n"
            "less -S)\n");
  EXPECT_EQ(table.render({.width = 20}, ""),
            "name               n\n"
            "größer als ge…     1\n"
            "a               1000\n"
            "no room for: note\n")
      << "no way out is known";
}

TEST(TextTable, AnEmptyColumnIsRemoved) {
  TextTable table({{"name"}, {"note"}, {"n"}});
  table.add({"a", "", "1"});
  table.remove_if_empty(0);
  table.remove_if_empty(1);
  EXPECT_EQ(table.render({}), "name  n\na     1\n");
}

TEST(TextTable, LeavesOutFirstWhatRepeatsAndWhatIsAlike) {
  TextTable table({{"plan"},
                   {"link", Align::kLeft, 0, "", {}, true},
                   {"p50", Align::kRight, 0},
                   {"measured", Align::kRight, 1, "measured ms", 2},
                   {"wait", Align::kRight, 2}});
  table.add({"a", "tcp", "1.5", "1.5", "0.1"});
  table.add({"b", "tcp", "2.5", "2.5", "0.2"});
  EXPECT_EQ(table.render({false, 40}),
            "plan  link  p50  measured  wait\n"
            "a     tcp   1.5       1.5   0.1\n"
            "b     tcp   2.5       2.5   0.2\n");
  EXPECT_EQ(table.render({false, 30}),
            "plan  link  p50  wait\n"
            "a     tcp   1.5   0.1\n"
            "b     tcp   2.5   0.2\n"
            "not shown: measured ms (= p50)\n");
  EXPECT_EQ(table.render({false, 20}),
            "plan  p50  wait\n"
            "a     1.5   0.1\n"
            "b     2.5   0.2\n"
            "not shown: measured\n"
            "ms (= p50), link\n"
            "(tcp in every row)\n");
  // What tells rows apart stays.
  table.add({"c", "shm", "3.5", "3.6", "0.3"});
  EXPECT_THAT(table.render({false, 30}), testing::StartsWith("plan  link  p50  measured\n"));
}

TEST(TextTable, AColumnThatRepeatsAnotherCanBeRemoved) {
  TextTable table({{"device"}, {"address"}, {"state"}, {"again", Align::kLeft, 0, "", 2}});
  table.add({"10.0.0.1:7070", "10.0.0.1:7070", "well", "well"});
  TextTable named = table;
  named.add({"pi-1", "10.0.0.2:7070", "well", "well"});
  named.remove_if_repeated(1, 0);
  EXPECT_THAT(named.render({}),
              testing::StartsWith("device         address        state  again\n"));
  table.remove_if_repeated(1, 0);
  EXPECT_EQ(table.render({}),
            "device         state  again\n"
            "10.0.0.1:7070  well   well\n");
  EXPECT_EQ(table.render({.width = 25}),
            "device         state\n"
            "10.0.0.1:7070  well\n"
            "not shown: again (=\n"
            "state)\n");
}

TEST(TextTable, DropsColumnsThatBelongTogetherTogether) {
  TextTable table({{"at"},
                   {"best", Align::kLeft, 1},
                   {"ms", Align::kRight, 1, "ms of the best"},
                   {"widest column", Align::kLeft, 2}});
  table.add({"here", "a long name", "12.3", "x"});
  EXPECT_EQ(table.render({.width = 25}, ""),
            "at    best           ms\n"
            "here  a long name  12.3\n"
            "no room for: widest\n"
            "column\n");
  EXPECT_EQ(table.render({.width = 20}, ""),
            "at\n"
            "here\n"
            "no room for: best,\n"
            "ms of the best,\n"
            "widest column\n")
      << "a figure without its name would be another sentence";
}

}  // namespace
}  // namespace pareto::report
