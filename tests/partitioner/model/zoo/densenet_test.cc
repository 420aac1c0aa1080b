// DenseNet-121 as its paper has it (Huang et al., 2016, table 1).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/zoo/architecture.h"

namespace pareto::model::zoo {
namespace {

using test::Architecture;
using testing::ElementsAre;

TEST(DenseNet, HasAsManyLayersAsItsNameSays) {
  const Architecture net("densenet121", 64, 64, 1000);
  EXPECT_EQ(net.parameters(), 7'978'856);
  EXPECT_EQ(net.count("conv2d") + net.count("linear"), 121);
  // One before each convolution but the first, one after it, and one at the end.
  EXPECT_EQ(net.count("batch_norm"), net.count("conv2d") - 1 + 1 + 1);
  EXPECT_EQ(net.count("relu"), net.count("batch_norm"));
  EXPECT_EQ(net.count("avg_pool2d"), 3);
}

TEST(DenseNet, EveryLayerReadsAllThatItsBlockHasMade) {
  const Architecture net("densenet121", 32, 32);
  std::int64_t channels = 64;
  int block = 1;
  for (const int layers : {6, 12, 24, 16}) {
    const std::string path = "features.denseblock" + std::to_string(block);
    for (int layer = 1; layer <= layers; ++layer) {
      const std::string own = path + ".denselayer" + std::to_string(layer);
      EXPECT_EQ(net.output_of(own + ".norm1").at(0), channels) << own;
      EXPECT_EQ(net.output_of(own + ".conv1").at(0), 128) << own;
      EXPECT_EQ(net.output_of(own + ".conv2").at(0), 32) << own;
      channels += 32;
    }
    EXPECT_EQ(net.output_of(path).at(0), channels);
    if (block < 4) {
      channels /= 2;
      EXPECT_EQ(net.output_of("features.transition" + std::to_string(block)).at(0), channels);
    }
    ++block;
  }
  EXPECT_THAT(net.input_of("linear"), ElementsAre(1024));
}

TEST(DenseNet, TransitionsHalveAndRoundDown) {
  const Architecture net("densenet121", 224, 108);
  EXPECT_THAT(net.output_of("features.pool0"), ElementsAre(64, 56, 27));
  EXPECT_THAT(net.output_of("features.transition1"), ElementsAre(128, 28, 13));
  EXPECT_THAT(net.output_of("features.transition2"), ElementsAre(256, 14, 6));
  EXPECT_THAT(net.output_of("features.transition3"), ElementsAre(512, 7, 3));
}

TEST(DenseNet, PicturesOfABatchAreIndependent) {
  Architecture("densenet121", 40, 33).expect_independent_samples();
}

}  // namespace
}  // namespace pareto::model::zoo
