// SqueezeNet 1.0 as its paper has it (Iandola et al., 2016, table 1).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/zoo/architecture.h"

namespace pareto::model::zoo {
namespace {

using test::Architecture;
using testing::ElementsAre;

TEST(SqueezeNet, HasThePapersLayers) {
  const Architecture net("squeezenet1_0", 224, 224, 1000);
  EXPECT_EQ(net.parameters(), 1'248'424);
  EXPECT_NEAR(net.million_products(), 819, 5);
  EXPECT_EQ(net.count("conv2d"), 2 + 8 * 3) << "eight fire modules";
  EXPECT_EQ(net.count("cat"), 8);
  EXPECT_EQ(net.count("relu"), net.count("conv2d"));
  EXPECT_EQ(net.count("linear"), 0) << "the last convolution scores the classes";
  EXPECT_EQ(net.weights_like(".bias"), net.count("conv2d"));
}

TEST(SqueezeNet, PoolsCountWindowsThatReachPastTheEnd) {
  const Architecture net("squeezenet1_0", 224, 224);
  EXPECT_THAT(net.output_of("features.0"), ElementsAre(96, 109, 109));
  EXPECT_THAT(net.output_of("features.2"), ElementsAre(96, 54, 54));
  EXPECT_THAT(net.output_of("features.5"), ElementsAre(256, 54, 54));
  EXPECT_THAT(net.output_of("features.6"), ElementsAre(256, 27, 27));
  EXPECT_THAT(net.output_of("features.10"), ElementsAre(512, 27, 27));
  EXPECT_THAT(net.output_of("features.11"), ElementsAre(512, 13, 13));
  EXPECT_THAT(net.output_of("classifier.1"), ElementsAre(10, 13, 13));
  // 110 is even: the last window of the pool lacks a row, and counts.
  const Architecture even("squeezenet1_0", 226, 60);
  EXPECT_THAT(even.output_of("features.0"), ElementsAre(96, 110, 27));
  EXPECT_THAT(even.output_of("features.2"), ElementsAre(96, 55, 13));
}

TEST(SqueezeNet, PicturesThatAreTooSmallAreRefused) {
  ModelOptions options;
  options.input = {{{3, 6, 64}, DType::kFloat32}};
  const auto model = open_model("squeezenet1_0", options);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kInvalidArgument);
}

TEST(SqueezeNet, PicturesOfABatchAreIndependent) {
  Architecture("squeezenet1_0", 60, 45).expect_independent_samples();
}

}  // namespace
}  // namespace pareto::model::zoo
