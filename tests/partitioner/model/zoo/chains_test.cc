// AlexNet and VGG-16 as their papers have them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/zoo/architecture.h"

namespace pareto::model::zoo {
namespace {

using test::Architecture;
using testing::ElementsAre;

TEST(AlexNet, HasThePapersLayers) {
  const Architecture net("alexnet", 64, 64, 1000);
  EXPECT_EQ(net.parameters(), 61'100'840);
  EXPECT_EQ(net.count("conv2d"), 5);
  EXPECT_EQ(net.count("linear"), 3);
  EXPECT_EQ(net.count("max_pool2d"), 3);
  EXPECT_EQ(net.count("relu"), 7);
  EXPECT_EQ(net.weights_like(".bias"), 8);
  EXPECT_EQ(net.graph().values.size(), net.graph().operators.size() + 1) << "a chain";
}

TEST(AlexNet, AnyPictureIsPooledToTheSizeThatItsClassifierTakes) {
  const Architecture net("alexnet", 224, 130);
  EXPECT_THAT(net.output_of("features.0"), ElementsAre(64, 55, 31));
  EXPECT_THAT(net.output_of("features.12"), ElementsAre(256, 6, 3));
  EXPECT_THAT(net.output_of("avgpool"), ElementsAre(256, 6, 6));
  EXPECT_THAT(net.input_of("linear"), ElementsAre(9216));
}

TEST(Vgg16, HasAsManyLayersAsItsNameSays) {
  const Architecture net("vgg16", 32, 32);
  // 138,357,544 with 1,000 classes.
  EXPECT_EQ(net.parameters(), 138'357'544 - 990 * (4096 + 1));
  EXPECT_EQ(net.count("conv2d") + net.count("linear"), 16);
  EXPECT_EQ(net.count("max_pool2d"), 5);
  EXPECT_EQ(net.count("relu"), 15);
  EXPECT_THAT(net.output_of("features.30"), ElementsAre(512, 1, 1));
  EXPECT_THAT(net.output_of("avgpool"), ElementsAre(512, 7, 7));
  for (const Operator& op : net.graph().operators) {
    if (op.kind != "aten::conv2d") continue;
    const auto& weight = net.graph().weights[static_cast<std::size_t>(op.weights.at(0))];
    EXPECT_EQ(weight.shape.at(2), 3) << op.scope;
    EXPECT_EQ(weight.shape.at(3), 3) << op.scope;
  }
}

TEST(Vgg16, PicturesSmallerThanItsPoolsAreRefused) {
  ModelOptions options;
  options.num_classes = 2;
  options.input = {{{3, 31, 31}, DType::kFloat32}};
  const auto model = open_model("vgg16", options);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kInvalidArgument);
}

TEST(AlexNet, PicturesOfABatchAreIndependent) {
  Architecture("alexnet", 63, 80).expect_independent_samples();
}

}  // namespace
}  // namespace pareto::model::zoo
