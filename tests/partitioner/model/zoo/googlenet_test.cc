// GoogLeNet as in its paper (Szegedy et al., 2014, table 1), with the published weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/zoo/architecture.h"

namespace pareto::model::zoo {
namespace {

using test::Architecture;
using testing::ElementsAre;

TEST(GoogLeNet, HasThePapersLayers) {
  const Architecture net("googlenet", 224, 224, 1000);
  EXPECT_EQ(net.parameters(), 6'624'904);
  EXPECT_NEAR(net.million_products(), 1498, 15);
  // Three in front and nine modules of six.
  EXPECT_EQ(net.count("conv2d"), 3 + 9 * 6);
  EXPECT_EQ(net.count("cat"), 9);
  EXPECT_EQ(net.count("batch_norm"), net.count("conv2d"));
  EXPECT_EQ(net.count("relu"), net.count("conv2d"));
  EXPECT_EQ(net.count("max_pool2d"), 4 + 9);
}

TEST(GoogLeNet, ModulesHaveThePapersSizes) {
  const Architecture net("googlenet", 224, 224);
  EXPECT_THAT(net.output_of("conv1"), ElementsAre(64, 112, 112));
  EXPECT_THAT(net.output_of("maxpool1"), ElementsAre(64, 56, 56));
  EXPECT_THAT(net.output_of("conv3"), ElementsAre(192, 56, 56));
  EXPECT_THAT(net.output_of("inception3a"), ElementsAre(256, 28, 28));
  EXPECT_THAT(net.output_of("inception3b"), ElementsAre(480, 28, 28));
  EXPECT_THAT(net.output_of("inception4a"), ElementsAre(512, 14, 14));
  EXPECT_THAT(net.output_of("inception4d"), ElementsAre(528, 14, 14));
  EXPECT_THAT(net.output_of("inception4e"), ElementsAre(832, 14, 14));
  EXPECT_THAT(net.output_of("inception5b"), ElementsAre(1024, 7, 7));
}

TEST(GoogLeNet, BranchesMeetWhateverTheSizeOfThePicture) {
  // Pools round up; branches that were of different sizes could not be put together.
  for (const auto& [height, width] : {std::pair{65, 47}, {71, 33}, {40, 90}}) {
    const Architecture net("googlenet", height, width);
    EXPECT_THAT(net.input_of("linear"), ElementsAre(1024)) << height << " by " << width;
  }
}

TEST(GoogLeNet, PicturesOfABatchAreIndependent) {
  Architecture("googlenet", 48, 64).expect_independent_samples();
}

}  // namespace
}  // namespace pareto::model::zoo
