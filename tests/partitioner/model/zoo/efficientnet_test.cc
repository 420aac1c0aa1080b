// EfficientNet-B0 as in its paper (Tan and Le, 2019, table 1).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/zoo/architecture.h"

namespace pareto::model::zoo {
namespace {

using test::Architecture;
using testing::ElementsAre;

TEST(EfficientNet, HasThePapersLayers) {
  const Architecture net("efficientnet_b0", 224, 224, 1000);
  EXPECT_EQ(net.parameters(), 5'288'548);
  EXPECT_NEAR(net.million_products(), 390, 5);
  constexpr int kBlocks = 16;
  // Blocks of three convolutions (the first of two), with two more for each squeeze.
  EXPECT_EQ(net.count("conv2d"), 1 + kBlocks * 3 - 1 + kBlocks * 2 + 1);
  EXPECT_EQ(net.count("batch_norm"), net.count("conv2d") - kBlocks * 2);
  EXPECT_EQ(net.count("sigmoid"), kBlocks);
  EXPECT_EQ(net.count("mul"), kBlocks);
  EXPECT_EQ(net.count("add"), 9);
  EXPECT_EQ(net.count("linear"), 1);
  // The first and the last convolution, and two in each block (the first has one), one a squeeze.
  EXPECT_EQ(net.count("silu"), 2 + kBlocks * 2 - 1 + kBlocks);
}

TEST(EfficientNet, StagesHaveThePapersSizes) {
  const Architecture net("efficientnet_b0", 224, 96);
  EXPECT_THAT(net.output_of("features.0"), ElementsAre(32, 112, 48));
  EXPECT_THAT(net.output_of("features.1"), ElementsAre(16, 112, 48));
  EXPECT_THAT(net.output_of("features.2"), ElementsAre(24, 56, 24));
  EXPECT_THAT(net.output_of("features.3"), ElementsAre(40, 28, 12));
  EXPECT_THAT(net.output_of("features.4"), ElementsAre(80, 14, 6));
  EXPECT_THAT(net.output_of("features.5"), ElementsAre(112, 14, 6));
  EXPECT_THAT(net.output_of("features.6"), ElementsAre(192, 7, 3));
  EXPECT_THAT(net.output_of("features.7"), ElementsAre(320, 7, 3));
  EXPECT_THAT(net.output_of("features.8"), ElementsAre(1280, 7, 3));
}

TEST(EfficientNet, ASqueezeIsOfTheChannelsBeforeTheyAreExpanded) {
  const Architecture net("efficientnet_b0", 64, 64);
  // The second stage expands 16 channels to 96, and squeezes these to a quarter of the 16.
  EXPECT_THAT(net.output_of("features.2.0.block.2.avgpool"), ElementsAre(96, 1, 1));
  EXPECT_THAT(net.output_of("features.2.0.block.2.fc1"), ElementsAre(4, 1, 1));
  EXPECT_THAT(net.output_of("features.2.0.block.2.fc2"), ElementsAre(96, 1, 1));
}

TEST(EfficientNet, PicturesOfABatchAreIndependent) {
  Architecture("efficientnet_b0", 40, 64).expect_independent_samples();
}

}  // namespace
}  // namespace pareto::model::zoo
