#include "runtime/archive/class_bodies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

/// Returns what is wrong with a class that has that statement; empty: nothing.
std::string problem(const std::string& base, const std::string& statement) {
  const auto checked =
      check_class_bodies("class A(" + base + "):\n  x : int\n  " + statement + "\n");
  if (checked) return "";
  EXPECT_EQ(checked.error().code, ErrorCode::kCorrupt);
  return checked.error().message;
}

TEST(ClassBodies, AModulesAttributesHaveTypes) {
  for (const char* const good :
       {"y : int", "y : Final[int] = 3", "y : Dict[str, int] = {\"a\": 1}", "y : Tensor",
        "y : List[int] = [\n1,\n2]", "def f(self) -> int:\n    y = 3\n    return y", "pass",
        "\"a text\"", "y : int  # = 3", "(y)", "y == 3"}) {
    EXPECT_EQ(problem("Module", good), "") << good;
  }
  for (const char* const bad : {"y = 3", "y = []", "y = {1: 2}", "y = \": int\"", "y = 3  # : int",
                                "y = f(a : int)", "y = lambda x: x", "y = a[1:2]", "y = (\n: 3)"}) {
    EXPECT_EQ(problem("Module", bad), "the attribute \"y\" has no type in line 3 of its code")
        << bad;
  }
}

TEST(ClassBodies, AModulesListsHaveValues) {
  for (const char* const list : {"__parameters__", "__buffers__", "__annotations__",
                                 "__forward_hooks__", "__forward_pre_hooks__"}) {
    EXPECT_EQ(problem("Module", std::string(list) + " = [\"a\", ]"), "") << list;
    EXPECT_THAT(problem("Module", std::string(list) + " : List[str]"), HasSubstr("has no value"))
        << list;
    // To a NamedTuple they are fields like others.
    EXPECT_EQ(problem("NamedTuple", std::string(list) + " : int"), "") << list;
    EXPECT_THAT(problem("NamedTuple", std::string(list) + " = []"), HasSubstr("has no type"));
  }
}

TEST(ClassBodies, AnEnumsNamesHaveValues) {
  EXPECT_THAT(problem("Enum", "red : int"), HasSubstr("has no value"));
  // The class that all of these have begins with such a field.
  EXPECT_THAT(problem("Enum", "red = 1"), HasSubstr("the attribute \"x\" has no value in line 2"));
  EXPECT_TRUE(check_class_bodies("class A(Enum):\n  red = 1\n  blue = \"b\"\n"));
}

TEST(ClassBodies, OnlyTheClassesOwnStatementsCount) {
  EXPECT_TRUE(check_class_bodies("def f(a: int) -> int:\n  b = a\n  return b\n"));
  EXPECT_TRUE(check_class_bodies("x = 3\n"));
  EXPECT_TRUE(check_class_bodies("class A(Module):\n  def f(self):\n    y = 3\n"));
  EXPECT_FALSE(check_class_bodies("class A(Module):\n  def f(self):\n    y = 3\n  z = 4\n"));
  // A function ends the class, another class begins with a margin of its own.
  EXPECT_TRUE(check_class_bodies("class A(Module):\n  x : int\ndef g():\n  y = 3\n"));
  EXPECT_FALSE(check_class_bodies("class A(Module):\n  x : int\nclass B(Module):\n      y = 3\n"));
}

TEST(ClassBodies, BackslashesJoinLines) {
  EXPECT_EQ(problem("Module", "y \\\n  : int"), "");
  EXPECT_THAT(problem("Module", "y \\\n  = 3"), HasSubstr("in line 3"));
  EXPECT_THAT(problem("Module", "y \\  \n = [1]"), HasSubstr("has no type"));
}

TEST(ClassBodies, StringsAreNoCode) {
  EXPECT_TRUE(check_class_bodies("class A(Module):\n  \"\"\"\n  y = 3\n  \"\"\"\n  x : int\n"));
  EXPECT_FALSE(check_class_bodies("class A(Module):\n  \"\"\"\n\"\"\"\n  y = \"\"\": int\"\"\"\n"));
  EXPECT_TRUE(check_class_bodies("class A(Module):\n  x : int = \"a\\\"\\\n = 3\"\n"));
}

TEST(ClassBodies, WhatComparesAssignsNothing) {
  for (const char* const none : {"y == 3", "y != 3", "y <= 3", "y >= 3"}) {
    EXPECT_EQ(problem("Module", none), "") << none;
  }
}

TEST(ClassBodies, ABlankBeforeTheFirstStatementIsRefused) {
  EXPECT_FALSE(check_class_bodies(" x : int\n"));
  EXPECT_TRUE(check_class_bodies("\n  \n# text\nx = 1\n"));
  EXPECT_TRUE(check_class_bodies(""));
}

TEST(ClassBodies, ATypeInACommentIsRefused) {
  EXPECT_FALSE(check_class_bodies("def f(x):\n  # type: (int) -> int\n  return x\n"));
  EXPECT_TRUE(check_class_bodies("def f(x):\n  # a type: int\n  return x\n"));
}

}  // namespace
}  // namespace pareto::runtime
