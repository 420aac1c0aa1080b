// ShuffleNet V2 of single width as in its paper (Ma et al., 2018, table 5).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/zoo/architecture.h"

namespace pareto::model::zoo {
namespace {

using test::Architecture;
using testing::ElementsAre;

TEST(ShuffleNet, HasThePapersLayers) {
  const Architecture net("shufflenet_v2", 224, 224, 1000);
  EXPECT_EQ(net.parameters(), 2'278'604);
  EXPECT_NEAR(net.million_products(), 146, 3);
  // Sixteen units of three convolutions, and two more in the three that shrink.
  EXPECT_EQ(net.count("conv2d"), 2 + 16 * 3 + 3 * 2);
  EXPECT_EQ(net.count("batch_norm"), net.count("conv2d"));
  EXPECT_EQ(net.count("stack"), 16);
  EXPECT_EQ(net.count("slice"), 2 * 13);
}

TEST(ShuffleNet, StagesHaveThePapersSizes) {
  const Architecture net("shufflenet_v2", 224, 96);
  EXPECT_THAT(net.output_of("conv1"), ElementsAre(24, 112, 48));
  EXPECT_THAT(net.output_of("maxpool"), ElementsAre(24, 56, 24));
  EXPECT_THAT(net.output_of("stage2"), ElementsAre(116, 28, 12));
  EXPECT_THAT(net.output_of("stage3"), ElementsAre(232, 14, 6));
  EXPECT_THAT(net.output_of("stage4"), ElementsAre(464, 7, 3));
  EXPECT_THAT(net.output_of("conv5"), ElementsAre(1024, 7, 3));
}

TEST(ShuffleNet, AUnitFiltersHalfOfTheChannels) {
  const Architecture net("shufflenet_v2", 64, 64);
  EXPECT_THAT(net.output_of("stage2.0.branch1"), ElementsAre(58, 8, 8));
  EXPECT_THAT(net.output_of("stage2.0.branch2"), ElementsAre(58, 8, 8));
  EXPECT_THAT(net.output_of("stage2.1.branch2"), ElementsAre(58, 8, 8));
  EXPECT_TRUE(net.output_of("stage2.1.branch1").empty());
}

TEST(ShuffleNet, PicturesOfABatchAreIndependent) {
  Architecture("shufflenet_v2", 45, 64).expect_independent_samples();
}

}  // namespace
}  // namespace pareto::model::zoo
