// MobileNetV2 as its paper has it (Sandler et al., 2018, table 2).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/zoo/architecture.h"

namespace pareto::model::zoo {
namespace {

using test::Architecture;
using testing::ElementsAre;

TEST(MobileNetV2, HasThePapersLayers) {
  const Architecture net("mobilenetv2", 224, 224, 1000);
  EXPECT_EQ(net.parameters(), 3'504'872);
  EXPECT_NEAR(net.million_products(), 301, 2);
  // One in front, 17 blocks of three (the first of two), and one behind.
  EXPECT_EQ(net.count("conv2d"), 1 + 17 * 3 - 1 + 1);
  EXPECT_EQ(net.count("batch_norm"), net.count("conv2d"));
  // Every block's last convolution is linear.
  EXPECT_EQ(net.count("hardtanh"), net.count("conv2d") - 17);
  EXPECT_EQ(net.count("add"), 10) << "blocks that repeat one of their size";
  EXPECT_EQ(net.count("linear"), 1);
}

TEST(MobileNetV2, StagesHaveThePapersSizes) {
  const Architecture net("mobilenetv2", 224, 160);
  EXPECT_THAT(net.output_of("features.0"), ElementsAre(32, 112, 80));
  EXPECT_THAT(net.output_of("features.1"), ElementsAre(16, 112, 80));
  EXPECT_THAT(net.output_of("features.3"), ElementsAre(24, 56, 40));
  EXPECT_THAT(net.output_of("features.6"), ElementsAre(32, 28, 20));
  EXPECT_THAT(net.output_of("features.10"), ElementsAre(64, 14, 10));
  EXPECT_THAT(net.output_of("features.13"), ElementsAre(96, 14, 10));
  EXPECT_THAT(net.output_of("features.16"), ElementsAre(160, 7, 5));
  EXPECT_THAT(net.output_of("features.17"), ElementsAre(320, 7, 5));
  EXPECT_THAT(net.output_of("features.18"), ElementsAre(1280, 7, 5));
}

TEST(MobileNetV2, TakesPicturesOfAnySize) {
  for (const auto& [height, width] : {std::pair{33, 97}, {1, 1}, {64, 31}}) {
    const Architecture net("mobilenetv2", height, width);
    EXPECT_THAT(net.input_of("adaptive_avg_pool2d"),
                ElementsAre(1280, test::halved(height, 5), test::halved(width, 5)));
    EXPECT_THAT(net.input_of("linear"), ElementsAre(1280));
  }
}

TEST(MobileNetV2, PicturesOfABatchAreIndependent) {
  Architecture("mobilenetv2", 48, 64).expect_independent_samples();
}

}  // namespace
}  // namespace pareto::model::zoo
