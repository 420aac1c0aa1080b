// ResNets as their paper has them (He et al., 2015, table 1).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/zoo/architecture.h"

namespace pareto::model::zoo {
namespace {

using test::Architecture;
using testing::ElementsAre;

TEST(ResNet, HasAsManyLayersAsItsNameSays) {
  const Architecture small("resnet18", 64, 64, 1000);
  EXPECT_EQ(small.parameters(), 11'689'512);
  // Projections of shortcuts are not counted in the name.
  EXPECT_EQ(small.count("conv2d") - small.weights_like("downsample.0.weight"), 17);
  EXPECT_EQ(small.weights_like("downsample.0.weight"), 3);
  EXPECT_EQ(small.count("linear"), 1);
  EXPECT_EQ(small.count("add"), 8);
  const Architecture large("resnet50", 64, 64, 1000);
  EXPECT_EQ(large.parameters(), 25'557'032);
  EXPECT_EQ(large.count("conv2d") - large.weights_like("downsample.0.weight"), 49);
  EXPECT_EQ(large.weights_like("downsample.0.weight"), 4);
  EXPECT_EQ(large.count("add"), 16);
  for (const Architecture* const net : {&small, &large}) {
    EXPECT_EQ(net->count("batch_norm"), net->count("conv2d"));
    // One follows every convolution but the last of a block, and every sum; none a projection.
    EXPECT_EQ(net->count("relu"), net->count("conv2d") - net->weights_like("downsample.0.weight"));
  }
}

TEST(ResNet, TakesAsManyProductsAsThePaperSays) {
  EXPECT_NEAR(Architecture("resnet18", 224, 224, 1000).million_products(), 1814, 10);
}

TEST(ResNet, StagesHaveThePapersSizes) {
  const Architecture small("resnet18", 224, 100);
  EXPECT_THAT(small.output_of("conv1"), ElementsAre(64, 112, 50));
  EXPECT_THAT(small.output_of("layer1"), ElementsAre(64, 56, 25));
  EXPECT_THAT(small.output_of("layer2"), ElementsAre(128, 28, 13));
  EXPECT_THAT(small.output_of("layer3"), ElementsAre(256, 14, 7));
  EXPECT_THAT(small.output_of("layer4"), ElementsAre(512, 7, 4));
  const Architecture large("resnet50", 64, 33);
  EXPECT_THAT(large.output_of("layer1"), ElementsAre(256, 16, 9));
  EXPECT_THAT(large.output_of("layer4"), ElementsAre(2048, 2, 2));
  // The stride is that of the block's middle convolution, as in the weights that are published.
  EXPECT_THAT(large.output_of("layer2.0.conv1"), ElementsAre(128, 16, 9));
  EXPECT_THAT(large.output_of("layer2.0.conv2"), ElementsAre(128, 8, 5));
}

TEST(ResNet, PicturesOfABatchAreIndependent) {
  Architecture("resnet18", 50, 34).expect_independent_samples();
}

}  // namespace
}  // namespace pareto::model::zoo
