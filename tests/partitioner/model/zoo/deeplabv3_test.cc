// DeepLabV3 on ResNet-50 as in its paper (Chen et al., 2017), at an output stride of 8.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/zoo/architecture.h"

namespace pareto::model::zoo {
namespace {

using test::Architecture;
using testing::ElementsAre;

TEST(DeepLab, HasThePapersLayers) {
  const Architecture net("deeplabv3_resnet50", 32, 32, 21);
  EXPECT_EQ(net.parameters(), 39'638'869);
  // ResNet-50, five branches, and three behind them.
  EXPECT_EQ(net.count("conv2d"), 53 + 5 + 3);
  EXPECT_EQ(net.count("batch_norm"), net.count("conv2d") - 1);
  EXPECT_EQ(net.count("upsample_bilinear2d"), 2);
  EXPECT_EQ(net.count("cat"), 1);
}

TEST(DeepLab, ScoresEachPixel) {
  const Architecture net("deeplabv3_resnet50", 68, 99, 5);
  EXPECT_THAT(net.output_of("backbone.layer2"), ElementsAre(512, 9, 13));
  EXPECT_THAT(net.output_of("backbone.layer4"), ElementsAre(2048, 9, 13)) << "dilated";
  EXPECT_THAT(net.output_of("classifier.0.convs.4.0"), ElementsAre(2048, 1, 1));
  EXPECT_THAT(net.output_of("classifier.0.convs.4"), ElementsAre(256, 9, 13));
  EXPECT_THAT(net.input_of("upsample_bilinear2d", 1), ElementsAre(5, 9, 13));
  const Graph& graph = net.graph();
  const auto& dims = graph.values[static_cast<std::size_t>(graph.outputs[0])].spec.tensor.dims;
  ASSERT_EQ(dims.size(), 4U);
  EXPECT_EQ(dims[2].constant, 68);
  EXPECT_EQ(dims[3].constant, 99);
}

TEST(DeepLab, PicturesOfABatchAreIndependent) {
  Architecture("deeplabv3_resnet50", 24, 40, 3).expect_independent_samples();
}

}  // namespace
}  // namespace pareto::model::zoo
