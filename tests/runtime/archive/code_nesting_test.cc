#include "runtime/archive/code_nesting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/runtime/archive/times.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

bool refused(const std::string& code) {
  const auto checked = check_nesting(code);
  if (!checked) {
    EXPECT_EQ(checked.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(checked.error().message, HasSubstr("nests deeper than 500 levels in line "));
  }
  return !checked;
}

TEST(CodeNesting, EveryWayToNestIsSeen) {
  constexpr std::size_t kMany = 2 * kDeepestCode;
  for (const auto& [open, close] : {std::pair{"(", ")"},
                                    {"[", "]"},
                                    {"{", "}"},
                                    {"f(", ")"},
                                    {"(1, (", "))"},
                                    {"not ", ""},
                                    {"-", ""},
                                    {"~", ""},
                                    {"a.", ""},
                                    {"a[0].", ""},
                                    {"1 + ", ""},
                                    {"x if y else ", ""},
                                    {"lambda x: ", ""},
                                    {"\"\" + ", ""}}) {
    EXPECT_TRUE(refused("y = " + times(kMany, open) + "x" + times(kMany, close) + "\n")) << open;
    EXPECT_FALSE(refused("y = " + times(20, open) + "x" + times(20, close) + "\n")) << open;
  }
}

TEST(CodeNesting, BlocksNestByTheirIndentation) {
  std::string code;
  for (std::size_t level = 0; level <= kDeepestCode + 1; ++level) {
    code += std::string(level, ' ') + "if x:\n";
  }
  EXPECT_TRUE(refused(code));
  // As many blocks one after the other are no deeper than one.
  EXPECT_FALSE(refused("def f():\n" + times(5000, "  if x:\n    y = 1\n")));
}

TEST(CodeNesting, ElementsStandBesideEachOther) {
  EXPECT_FALSE(refused("y = [" + times(5000, "1, ") + "]\n"));
  EXPECT_FALSE(refused("y = f(" + times(5000, "a.b, ") + ")\n"));
  EXPECT_FALSE(refused("y = {" + times(5000, "1: (2, 3), ") + "}\n"));
  EXPECT_TRUE(refused("y = [" + times(1000, "(1, ") + times(1000, ")") + "]\n"));
}

TEST(CodeNesting, StringsAndCommentsNestNothing) {
  const std::string deep = times(2000, "(");
  EXPECT_FALSE(refused("y = \"" + deep + "\"\n"));
  EXPECT_FALSE(refused("y = '" + deep + "'\n"));
  EXPECT_FALSE(refused("y = \"\"\"" + deep + "\n\"" + deep + "\"\"\"\n"));
  EXPECT_FALSE(refused("y = \"\\\"" + deep + "\"\n"));
  EXPECT_FALSE(refused("# " + deep + "\ny = 1\n"));
  // But what follows a string is code again.
  EXPECT_TRUE(refused("y = \"\" " + deep));
  EXPECT_TRUE(refused("y = 'a\\'' " + deep));
  EXPECT_TRUE(refused("y = \"\"\"a\"\"\" " + deep));
}

TEST(CodeNesting, NamesTheLine) {
  const auto checked =
      check_nesting("a = 1\n\"\"\"two\nlines\"\"\"\ny = " + times(1000, "(") + "\n");
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("in line 4"));
}

TEST(CodeNesting, ClosingMoreThanWasOpenedGivesNoRoom) {
  EXPECT_TRUE(refused(times(2000, ")") + " " + times(1000, "(")));
  EXPECT_TRUE(refused(times(300, "()") + times(400, ")") + times(600, "(")));
}

TEST(CodeNesting, ALineThatGoesOnWithinBracketsIsOneStatement) {
  EXPECT_TRUE(refused("y = " + times(1000, "(\n")));
  EXPECT_TRUE(refused("y = (" + times(1000, "a.\n")));
}

/// Two ways to count brackets: the scan's, and only brackets, where nothing else is.
TEST(CodeNesting, OfBracketsAloneItIsTheirDepth) {
  std::mt19937_64 random(1);
  int deep = 0;
  for (int i = 0; i < 400; ++i) {
    std::string code;
    std::size_t depth = 0;
    std::size_t deepest = 0;
    for (int step = 0; step < 4000; ++step) {
      if (random() % 100 < 56) {
        code += "([{"[random() % 3];
        deepest = std::max(deepest, ++depth);
      } else if (depth > 0) {
        // A comma takes back what the closed bracket counts as an operand.
        code += ")],";
        code.resize(code.size() - 2);
        code += ",";
        --depth;
      }
    }
    const bool too_deep = deepest > kDeepestCode;
    // The last closed bracket counts once before its comma.
    if (deepest == kDeepestCode) continue;
    ASSERT_EQ(refused(code), too_deep) << i << ": " << deepest;
    deep += too_deep ? 1 : 0;
  }
  EXPECT_GT(deep, 10);
  EXPECT_LT(deep, 390);
}

}  // namespace
}  // namespace pareto::runtime
