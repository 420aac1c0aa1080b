#include "core/base/printable.h"

#include <gtest/gtest.h>

namespace pareto {
namespace {

TEST(Printable, TextIsLeftAsItIs) {
  for (const char* text : {"", "pi-1 #2", "Küche → 千", "\U0001F980"}) {
    EXPECT_TRUE(is_printable(text)) << text;
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, WhatControlsATerminalBecomesBlank) {
  EXPECT_EQ(printable("a\x1b[2Jb\r\n\x7f"), "a [2Jb   ");
  // CSI as one character of C1.
  EXPECT_EQ(printable("a\xC2\x9B"
                      "2J"),
            "a  2J");
  for (const char* text : {"\x1b", "\n", "\x7f", "\xC2\x9B"}) EXPECT_FALSE(is_printable(text));
}

TEST(Printable, WhatTurnsTextOrEndsLinesBecomesBlank) {
  EXPECT_EQ(printable("pi\u202Eexe.1"), "pi   exe.1");
  EXPECT_EQ(printable("a\u2028b\u2066c\u061Cd"), "a   b   c  d");
  EXPECT_FALSE(is_printable("\u200F"));
  EXPECT_TRUE(is_printable("שלום"));
}

TEST(Printable, BytesThatAreNoCharactersBecomeBlank) {
  for (const char* text : {"\xff", "\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
    EXPECT_FALSE(is_printable(text));
    EXPECT_EQ(printable(text), std::string(std::string_view(text).size(), ' '));
  }
}

TEST(Printable, LinesStayLines) {
  EXPECT_EQ(printable_lines("a\x1b[31m\n\nb\tc\n"), "a [31m\n\nb c\n");
  EXPECT_EQ(printable_lines(""), "");
  EXPECT_EQ(printable_lines(std::string(1000, 'x')).size(), 1000U);
}

TEST(Printable, IsCutBetweenCharacters) {
  EXPECT_EQ(printable("abc", 2), "ab");
  EXPECT_EQ(printable("aü", 2), "a");
  EXPECT_EQ(printable(std::string(1000, 'x')).size(), 300U);
}

}  // namespace
}  // namespace pareto
