#include "runtime/archive/code_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace pareto::runtime {
namespace {

using Kind = CodeToken::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

/// Returns all tokens of code that can be read.
std::vector<CodeToken> tokens_of(std::string_view code) {
  CodeTokens reader(code);
  std::vector<CodeToken> tokens;
  for (;;) {
    const auto token = reader.next();
    EXPECT_TRUE(token) << token.error().message;
    if (!token || token->kind == Kind::kEnd) return tokens;
    tokens.push_back(*token);
  }
}

std::vector<std::string> texts_of(std::string_view code) {
  std::vector<std::string> texts;
  for (const CodeToken& token : tokens_of(code)) texts.emplace_back(token.text);
  return texts;
}

/// Returns why code cannot be read; "" if it can.
std::string unreadable(std::string_view code) {
  CodeTokens reader(code);
  for (std::size_t i = 0; i <= code.size(); ++i) {
    const auto token = reader.next();
    if (!token) {
      EXPECT_EQ(token.error().code, ErrorCode::kCorrupt);
      return token.error().message;
    }
    if (token->kind == Kind::kEnd) return "";
  }
  return "it never ends";
}

TEST(CodeTokens, WordsNumbersTextsAndSigns) {
  const auto tokens = tokens_of("def f(x_1: int): return x_1 + 2.5e-3j # no\n");
  std::vector<Kind> kinds;
  for (const CodeToken& token : tokens) kinds.push_back(token.kind);
  EXPECT_THAT(
      texts_of("def f(x_1: int): return x_1 + 2.5e-3j # no\n"),
      ElementsAre("def", "f", "(", "x_1", ":", "int", ")", ":", "return", "x_1", "+", "2.5e-3j"));
  EXPECT_EQ(kinds.back(), Kind::kNumber);
  EXPECT_EQ(kinds[0], Kind::kWord);
  EXPECT_EQ(kinds[2], Kind::kSign);
  EXPECT_TRUE(tokens[2].is_sign('('));
  EXPECT_FALSE(tokens[2].is_sign(')'));
  EXPECT_TRUE(tokens[0].is_word("def"));
  EXPECT_FALSE(tokens[0].is_word("de"));
}

TEST(CodeTokens, NumbersEndWhereLibTorchsDo) {
  EXPECT_THAT(texts_of("1 .5 1. 1.e5 1E+2 10j 1.5j"),
              ElementsAre("1", ".5", "1.", "1.e5", "1E+2", "10j", "1.5j"));
  EXPECT_THAT(texts_of("a.b"), ElementsAre("a", ".", "b"));
  EXPECT_THAT(texts_of("1..2"), ElementsAre("1.", ".2"));
  EXPECT_THAT(texts_of("-1+2"), ElementsAre("-", "1", "+", "2"));
  for (const char* const wrong : {"1e", "0x1", "1_000", "1.5f", "12abc", "1jj", "1e+x"}) {
    EXPECT_THAT(unreadable(wrong), HasSubstr("a number runs into a name in line 1")) << wrong;
  }
}

TEST(CodeTokens, TextsKeepTheirQuotesAndMayHoldAnything) {
  EXPECT_THAT(texts_of(R"('a"b' "c'd" "\"" '\\' "")"),
              ElementsAre(R"('a"b')", R"("c'd")", R"("\"")", R"('\\')", R"("")"));
  EXPECT_THAT(texts_of("'''a\n'b''c\n''' x"), ElementsAre("'''a\n'b''c\n'''", "x"));
  EXPECT_THAT(texts_of("\"# no comment\"\n"), ElementsAre("\"# no comment\""));
  EXPECT_THAT(texts_of("'\xff\x01'"), ElementsAre("'\xff\x01'"));
}

TEST(CodeTokens, ATextWithoutAnEndIsRefusedWithItsLine) {
  for (const char* const wrong :
       {"'", "'a", "'a\n'", "'a\\'", "'a\\", "\"\"\"", "\"\"\"a\"\"", "'''a\n\n", "'''a\\'''"}) {
    EXPECT_THAT(unreadable("\n\n" + std::string(wrong)),
                HasSubstr("a text has no end in line 3 of its code"))
        << wrong;
  }
}

TEST(CodeTokens, CharactersThatNoCodeHasAreRefused) {
  for (int c = 0; c < 256; ++c) {
    const std::string code = "x\n" + std::string(1, static_cast<char>(c)) + " ";
    const bool strange = (c < ' ' && c != '\n' && c != '\t') || c >= 0x7f || c == '\\';
    const bool opens = c == '"' || c == '\'';
    EXPECT_EQ(!unreadable(code).empty(), strange || opens) << c;
    if (strange) {
      EXPECT_THAT(unreadable(code), HasSubstr("line 2 of its code")) << c;
    }
  }
  EXPECT_EQ(unreadable("a \\\n b"), "") << "a line that goes on";
  EXPECT_NE(unreadable("a \\ \n b"), "");
}

TEST(CodeTokens, StatementsBeginOutsideBrackets) {
  const auto tokens = tokens_of("a\n  b(\n  c,\n[\nd])\n\te\n");
  std::vector<std::string> first;
  for (const CodeToken& token : tokens) {
    if (token.first) first.push_back(std::string(token.text) + std::to_string(token.indent));
  }
  EXPECT_THAT(first, ElementsAre("a0", "b2", "e1"));
}

TEST(CodeTokens, ABracketTooManyClosesNothing) {
  const auto tokens = tokens_of(")]}\na\n(\nb");
  EXPECT_TRUE(tokens[3].first) << "a";
  EXPECT_FALSE(tokens[5].first) << "b";
}

TEST(CodeTokens, LinesAreCountedInTextsAndBehindBackslashes) {
  const auto tokens = tokens_of("'''\n\n''' a \\\n b # c\n\nd");
  EXPECT_EQ(tokens[0].line, 1U);
  EXPECT_EQ(tokens[1].line, 3U);
  EXPECT_EQ(tokens[2].line, 4U);
  EXPECT_EQ(tokens[3].line, 6U);
}

TEST(CodeTokens, TokensWithBlanksBetweenAreTheSameTokens) {
  std::mt19937 random(91);
  const std::vector<std::string> pieces{
      "a", "_b1", "1", "2.5", ".5", "1e3", "'t'", "\"\"\"u\"\"\"", "(", ")", "[", "]", ",",
      ".", "=",   "+", ":",   "->", "**",  "//"};
  for (int round = 0; round < 200; ++round) {
    std::string code;
    for (int i = 0; i < 12; ++i) {
      code += pieces[random() % pieces.size()];
      if (random() % 2 == 0) code += std::vector{" ", "\t", "\n", "#x\n", "\\\n"}[random() % 5];
    }
    if (!unreadable(code).empty()) continue;
    const auto texts = texts_of(code);
    std::string apart;
    for (const std::string& text : texts) apart += text + " ";
    EXPECT_EQ(texts_of(apart), texts) << code;
  }
}

TEST(CodeTokens, NoDamageIsReadWithoutEnd) {
  std::mt19937 random(92);
  const std::string good =
      "def f(self, x):\n    y = torch.add(x, 1.5e3, \"a\\n\") # b\n    return (y,)\n";
  for (int round = 0; round < 2000; ++round) {
    std::string code = good;
    for (std::size_t edits = 1 + random() % 4; edits > 0; --edits) {
      code[random() % code.size()] = static_cast<char>(random());
    }
    EXPECT_NE(unreadable(code), "it never ends");
  }
  EXPECT_EQ(unreadable(""), "");
}

}  // namespace
}  // namespace pareto::runtime
