#include "runtime/schedules/patterns.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace pareto::schedules {
namespace {

TEST(Patterns, KindsWithAndWithoutNamespace) {
  EXPECT_TRUE(fits_kind("aten::conv2d", "conv2d"));
  EXPECT_TRUE(fits_kind("aten::conv2d", "aten::conv2d"));
  EXPECT_TRUE(fits_kind("aten::conv2d", "*::conv?d"));
  EXPECT_TRUE(fits_kind("prim::mkldnn_convolution", "*conv*"));
  EXPECT_TRUE(fits_kind("conv2d", "conv*"));
  EXPECT_FALSE(fits_kind("aten::conv2d", "prim::conv2d"));
  EXPECT_FALSE(fits_kind("aten::conv2d", "conv"));
  EXPECT_FALSE(fits_kind("aten::conv2d", "aten"));
}

TEST(Patterns, StarsGoBackAsFarAsNeeded) {
  EXPECT_TRUE(fits("abcbcd", "a*bcd"));
  EXPECT_TRUE(fits("abc", "***"));
  EXPECT_TRUE(fits("", "*"));
  EXPECT_FALSE(fits("", "?"));
  EXPECT_FALSE(fits("abcbc", "a*bcd"));
  // A pattern on which backtracking would not end within a lifetime.
  std::string pattern;
  for (int i = 0; i < 60; ++i) pattern += "*a";
  EXPECT_FALSE(fits(std::string(200, 'a') + "b", pattern));
}

TEST(Patterns, ModulesAreFoundFromOutside) {
  const auto found = [](const std::string& path, const std::string& pattern) {
    return path.substr(0, fitting_module(path, pattern));
  };
  EXPECT_EQ(found("features.3.conv.0", "features.*"), "features.3");
  EXPECT_EQ(found("features.3.conv.0", "features.3"), "features.3");
  EXPECT_EQ(found("features.3.conv.0", "**.conv"), "features.3.conv");
  EXPECT_EQ(found("features.3.conv.0", "features.**.0"), "features.3.conv.0");
  EXPECT_EQ(found("features.0", "features.**.0"), "features.0");
  EXPECT_EQ(found("Mixed_5b.branch1x1", "Mixed_*.branch*"), "Mixed_5b.branch1x1");
  EXPECT_EQ(found("a.b.c", "**"), "a");
  EXPECT_EQ(found("features.30", "features.3"), "");
  EXPECT_EQ(found("features", "features.*"), "");
  EXPECT_EQ(found("", "**"), "");
  EXPECT_EQ(found("a.b", "*.*.*"), "");
}

/// Matches by trying everything.
bool fits_by_trying(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return fits_by_trying(text, pattern.substr(1)) ||
           (!text.empty() && fits_by_trying(text.substr(1), pattern));
  }
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) &&
         fits_by_trying(text.substr(1), pattern.substr(1));
}

std::string random_text(std::mt19937& random, std::string_view letters, std::size_t most) {
  std::string text(random() % (most + 1), ' ');
  for (char& letter : text) letter = letters[random() % letters.size()];
  return text;
}

TEST(Patterns, FitAsTryingEverythingSays) {
  std::mt19937 random(3);
  int fitting = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = random_text(random, "ab", 7);
    const std::string pattern = random_text(random, "ab*?", 6);
    EXPECT_EQ(fits(text, pattern), fits_by_trying(text, pattern)) << text << " " << pattern;
    fitting += fits(text, pattern) ? 1 : 0;
  }
  EXPECT_GT(fitting, 1000);
}

using Names = std::vector<std::string>;

bool names_fit(const Names& path, std::size_t at, const Names& pattern, std::size_t next) {
  if (next == pattern.size()) return at == path.size();
  if (pattern[next] == "**") {
    return names_fit(path, at, pattern, next + 1) ||
           (at < path.size() && names_fit(path, at + 1, pattern, next));
  }
  return at < path.size() && fits_by_trying(path[at], pattern[next]) &&
         names_fit(path, at + 1, pattern, next + 1);
}

std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ".") + name;
  return text;
}

TEST(Patterns, TheShortestModuleIsFoundAsTryingEachSays) {
  std::mt19937 random(4);
  const Names names{"a", "b", "ab", "a1"};
  const Names patterns{"a", "*", "**", "a?", "?", "*b", "b"};
  int found = 0;
  for (int i = 0; i < 20'000; ++i) {
    Names path(1 + random() % 5);
    for (std::string& name : path) name = names[random() % names.size()];
    Names pattern(1 + random() % 4);
    for (std::string& part : pattern) part = patterns[random() % patterns.size()];
    std::size_t expected = 0;
    for (std::size_t length = path.size(); length > 0; --length) {
      const Names begin(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(length));
      if (names_fit(begin, 0, pattern, 0)) expected = joined(begin).size();
    }
    EXPECT_EQ(fitting_module(joined(path), joined(pattern)), expected)
        << joined(path) << " " << joined(pattern);
    found += expected > 0 ? 1 : 0;
  }
  EXPECT_GT(found, 1000);
}

TEST(Patterns, StrangePathsFindNothingOutsideThem) {
  for (const std::string path : {"", ".", "..", "a..b", ".a", "a."}) {
    for (const std::string pattern : {"", "**", "*", ".", "a.*.b", "*.*", "?"}) {
      EXPECT_LE(fitting_module(path, pattern), path.size()) << path << " " << pattern;
    }
  }
  EXPECT_EQ(fitting_module("a..b", "a.*.b"), 4U) << "a name may be empty";
}

TEST(Patterns, ManyAnyNamesAreQuick) {
  std::string path = "a";
  std::string pattern = "**";
  for (int i = 0; i < 300; ++i) path += ".a";
  for (int i = 0; i < 60; ++i) pattern += ".**";
  EXPECT_EQ(fitting_module(path, pattern + ".b"), 0U);
  EXPECT_EQ(fitting_module(path, pattern + ".a"), 1U);
}

}  // namespace
}  // namespace pareto::schedules
