// MobileNetV3-Large as its paper has it (Howard et al., 2019, table 1).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/zoo/architecture.h"

namespace pareto::model::zoo {
namespace {

using test::Architecture;
using testing::ElementsAre;

TEST(MobileNetV3, HasThePapersLayers) {
  const Architecture net("mobilenetv3_large", 224, 224, 1000);
  EXPECT_EQ(net.parameters(), 5'483'032);
  EXPECT_NEAR(net.million_products(), 217, 3);
  constexpr int kBlocks = 15;
  constexpr int kSqueezes = 8;
  // Blocks of three convolutions (the first of two), with two more for each squeeze.
  EXPECT_EQ(net.count("conv2d"), 1 + kBlocks * 3 - 1 + kSqueezes * 2 + 1);
  EXPECT_EQ(net.count("batch_norm"), net.count("conv2d") - kSqueezes * 2);
  EXPECT_EQ(net.count("mul"), kSqueezes);
  EXPECT_EQ(net.count("hardsigmoid"), kSqueezes);
  EXPECT_EQ(net.count("add"), 10);
  EXPECT_EQ(net.count("linear"), 2);
  // The first convolution, two in each of nine blocks, the last one, and the first linear layer.
  EXPECT_EQ(net.count("hardswish"), 1 + 9 * 2 + 1 + 1);
}

TEST(MobileNetV3, StagesHaveThePapersSizes) {
  const Architecture net("mobilenetv3_large", 224, 96);
  EXPECT_THAT(net.output_of("features.1"), ElementsAre(16, 112, 48));
  EXPECT_THAT(net.output_of("features.3"), ElementsAre(24, 56, 24));
  EXPECT_THAT(net.output_of("features.6"), ElementsAre(40, 28, 12));
  EXPECT_THAT(net.output_of("features.10"), ElementsAre(80, 14, 6));
  EXPECT_THAT(net.output_of("features.12"), ElementsAre(112, 14, 6));
  EXPECT_THAT(net.output_of("features.15"), ElementsAre(160, 7, 3));
  EXPECT_THAT(net.output_of("features.16"), ElementsAre(960, 7, 3));
}

TEST(MobileNetV3, ASqueezeSeesTheWholePicture) {
  const Architecture net("mobilenetv3_large", 64, 64);
  // The fourth block is the first that squeezes: 72 channels to 24 and back.
  EXPECT_THAT(net.output_of("features.4.block.2.avgpool"), ElementsAre(72, 1, 1));
  EXPECT_THAT(net.output_of("features.4.block.2.fc1"), ElementsAre(24, 1, 1));
  EXPECT_THAT(net.output_of("features.4.block.2.fc2"), ElementsAre(72, 1, 1));
}

TEST(MobileNetV3, PicturesOfABatchAreIndependent) {
  Architecture("mobilenetv3_large", 40, 64).expect_independent_samples();
}

}  // namespace
}  // namespace pareto::model::zoo
