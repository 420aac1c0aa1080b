#include "partitioner/model/graph/varying_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/partitioner/model/graph/hand_made.h"

namespace pareto::model {
namespace {

/// Fits an expression to a function, as runs of a model would.
template <typename Function>
std::optional<SizeExpression> fitted(const VaryingSize& range, Function dimension,
                                     int* asked = nullptr) {
  SizeFit fit(range, dimension(range.least), dimension(range.most));
  int count = 0;
  while (const auto size = fit.telling_size()) {
    fit.see(*size, dimension(*size));
    if (++count > 20) break;
  }
  if (asked != nullptr) *asked = count;
  return fit.simplest();
}

TEST(SizeFit, FindsWhatRoundsDown) {
  const VaryingSize range{"H", 33, 300, 1};
  for (const std::int64_t divisor : {1, 2, 3, 4, 8, 16, 32}) {
    for (const std::int64_t offset : {-7, -1, 0, 1, 3, 31}) {
      const SizeExpression known{0, 1, offset, divisor};
      int asked = 0;
      const auto found = fitted(
          range, [&](std::int64_t size) { return known.at(size); }, &asked);
      ASSERT_TRUE(found);
      for (std::int64_t size = range.least; size <= range.most; ++size) {
        ASSERT_EQ(found->at(size), known.at(size)) << known.text("H") << " at " << size;
      }
      EXPECT_LE(asked, 12) << known.text("H");
    }
  }
}

TEST(SizeFit, SaysSimpleThings) {
  const VaryingSize every32{"H", 192, 256, 32};
  // On these sizes nothing is rounded.
  EXPECT_EQ(fitted(every32, [](std::int64_t size) { return (size + 3) / 4; })->text("H"), "H/4");
  const VaryingSize all{"H", 192, 256, 1};
  EXPECT_EQ(fitted(all, [](std::int64_t size) { return (size + 3) / 4; })->text("H"), "(H+3)/4");
  EXPECT_EQ(fitted(all, [](std::int64_t size) { return 2 * size; })->text("H"), "2H");
  EXPECT_EQ(fitted(all, [](std::int64_t size) { return size - 2; })->text("H"), "H-2");
  EXPECT_EQ(fitted(all, [](std::int64_t size) { return size; })->text("H"), "H");
}

TEST(SizeFit, RefusesASquare) {
  const VaryingSize range{"H", 8, 16, 1};
  EXPECT_FALSE(fitted(range, [](std::int64_t size) { return size * size; }));
}

TEST(SizeFit, FindsAnyExpressionOfAnyRange) {
  std::mt19937 random(41);
  const auto between = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random() % static_cast<unsigned>(most - least + 1));
  };
  for (int round = 0; round < 150; ++round) {
    VaryingSize range{"H", between(1, 300), 0, between(1, 40)};
    range.most = range.least + range.step * between(2, 60);
    const SizeExpression known{0, between(1, 4), between(-40, 40), between(1, 32)};
    const auto found = fitted(range, [&](std::int64_t size) { return known.at(size); });
    if (known.at(range.least) == known.at(range.most)) continue;  // it does not vary
    ASSERT_TRUE(found) << known.text("H");
    for (std::int64_t size = range.least; size <= range.most; size += range.step) {
      ASSERT_TRUE(range.holds(size));
      EXPECT_EQ(found->at(size), known.at(size))
          << known.text("H") << " found as " << found->text("H") << " at " << size;
    }
  }
}

TEST(SizeFit, AsksOnlyForSizesOfTheRange) {
  const VaryingSize range{"H", 100, 1000, 7};
  SizeFit fit(range, 25, 249);
  for (int i = 0; i < 20; ++i) {
    const auto size = fit.telling_size();
    if (!size) break;
    EXPECT_TRUE(range.holds(*size)) << *size;
    fit.see(*size, *size / 4);
  }
  EXPECT_EQ(fit.simplest()->at(107), 26);
}

TEST(SizeFit, WhatWasSeenElsewhereDropsAllThatDoNotFit) {
  const VaryingSize range{"H", 8, 16, 1};
  SizeFit fit(range, 8, 16);
  EXPECT_EQ(fit.simplest()->text("H"), "H");
  fit.see(12, 13);
  EXPECT_FALSE(fit.simplest() && fit.simplest()->at(12) != 13);
  fit.see(12, 14);
  EXPECT_FALSE(fit.simplest());
  EXPECT_FALSE(fit.telling_size());
}

TEST(SizeFit, OfTwoSizesThereIsNothingToAsk) {
  const VaryingSize range{"H", 32, 64, 32};
  const SizeFit fit(range, 1, 2);
  EXPECT_FALSE(fit.telling_size());
  EXPECT_EQ(fit.simplest()->text("H"), "H/32");
}

TEST(SizeFit, ADimensionThatFallsIsNoMultiple) {
  EXPECT_FALSE(fitted({"H", 8, 64, 1}, [](std::int64_t size) { return 100 - size; }));
}

TEST(SizeExpression, RoundsDownBelowZeroToo) {
  for (std::int64_t value = -20; value <= 20; ++value) {
    for (const std::int64_t divisor : {1, 2, 3, 7}) {
      EXPECT_EQ((SizeExpression{0, 1, 0, divisor}).at(value),
                static_cast<std::int64_t>(
                    std::floor(static_cast<double>(value) / static_cast<double>(divisor))));
    }
  }
}

TEST(SizeExpression, IsWrittenAsOneWouldByHand) {
  const auto text = [](std::int64_t factor, std::int64_t offset, std::int64_t divisor) {
    return SizeExpression{0, factor, offset, divisor}.text("W");
  };
  EXPECT_EQ(text(1, 0, 1), "W");
  EXPECT_EQ(text(3, 0, 1), "3W");
  EXPECT_EQ(text(1, -2, 1), "W-2");
  EXPECT_EQ(text(2, 1, 1), "2W+1");
  EXPECT_EQ(text(1, 0, 4), "W/4");
  EXPECT_EQ(text(3, 0, 4), "3W/4");
  EXPECT_EQ(text(3, -1, 4), "(3W-1)/4");
}

TEST(VaryingSize, HoldsEveryStepFromTheLeast) {
  const VaryingSize size{"H", 10, 20, 4};
  for (std::int64_t at = 0; at < 30; ++at) {
    EXPECT_EQ(size.holds(at), at == 10 || at == 14 || at == 18) << at;
  }
}

TEST(VaryingSize, SizesAreListedByName) {
  EXPECT_EQ(sizes_text({{"H"}, {"W"}}, {32, 48}), "H = 32, W = 48");
  EXPECT_EQ(sizes_text({{"H"}, {"W"}}, {32}), "H = 32");
  EXPECT_EQ(sizes_text({}, {}), "");
}

TEST(VaryingSize, ValuesAreDescribedWithThem) {
  Graph graph;
  graph.sizes = {{"H", 32, 64, 32}, {"W", 32, 64, 32}};
  GraphValue value;
  value.spec = test::tensor_spec({{0, 1}, {64, 0}, {8, 0}, {16, 0}});
  EXPECT_EQ(describe(graph, value), "float32[Bx64x8x16]");
  value.sizes = {std::nullopt, std::nullopt, SizeExpression{0, 1, 0, 4},
                 SizeExpression{1, 1, 1, 2}};
  EXPECT_EQ(describe(graph, value), "float32[Bx64xH/4x(W+1)/2]");
  value.sizes.resize(3);
  EXPECT_EQ(describe(graph, value), "float32[Bx64xH/4x16]") << "fewer than there are dimensions";
}

}  // namespace
}  // namespace pareto::model
