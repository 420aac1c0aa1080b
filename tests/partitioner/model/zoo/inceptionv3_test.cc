// Inception v3 as its paper has it (Szegedy et al., 2015, table 1), with the weights that are
// published.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/zoo/architecture.h"

namespace pareto::model::zoo {
namespace {

using test::Architecture;
using testing::ElementsAre;

TEST(InceptionV3, HasThePapersLayers) {
  const Architecture net("inceptionv3", 96, 96, 1000);
  // 27,161,264 with the auxiliary head that only training needs.
  EXPECT_EQ(net.parameters(), 27'161'264 - 3'326'696);
  EXPECT_EQ(net.count("conv2d"), 94);
  EXPECT_EQ(net.count("batch_norm"), 94);
  EXPECT_EQ(net.count("relu"), 94);
  EXPECT_EQ(net.weights_like(".conv.bias"), 0);
}

TEST(InceptionV3, ModulesHaveThePapersSizes) {
  const Architecture net("inceptionv3", 299, 299);
  EXPECT_THAT(net.output_of("Conv2d_1a_3x3"), ElementsAre(32, 149, 149));
  EXPECT_THAT(net.output_of("Conv2d_2b_3x3"), ElementsAre(64, 147, 147));
  EXPECT_THAT(net.output_of("Conv2d_4a_3x3"), ElementsAre(192, 71, 71));
  EXPECT_THAT(net.output_of("Mixed_5b"), ElementsAre(256, 35, 35));
  EXPECT_THAT(net.output_of("Mixed_5d"), ElementsAre(288, 35, 35));
  EXPECT_THAT(net.output_of("Mixed_6a"), ElementsAre(768, 17, 17));
  EXPECT_THAT(net.output_of("Mixed_6e"), ElementsAre(768, 17, 17));
  EXPECT_THAT(net.output_of("Mixed_7a"), ElementsAre(1280, 8, 8));
  EXPECT_THAT(net.output_of("Mixed_7c"), ElementsAre(2048, 8, 8));
}

TEST(InceptionV3, TheSmallestPictureIsTheOneThatPapersName) {
  EXPECT_THAT(Architecture("inceptionv3", 75, 75).output_of("Mixed_7c"), ElementsAre(2048, 1, 1));
  ModelOptions options;
  options.input = {{{3, 74, 75}, DType::kFloat32}};
  const auto model = open_model("inceptionv3", options);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kInvalidArgument);
}

TEST(InceptionV3, PicturesOfABatchAreIndependent) {
  Architecture("inceptionv3", 80, 75).expect_independent_samples();
}

}  // namespace
}  // namespace pareto::model::zoo
