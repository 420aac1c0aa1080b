// Swin-T as in its paper (Liu et al., 2021, table 7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/zoo/architecture.h"

namespace pareto::model::zoo {
namespace {

using test::Architecture;
using testing::ElementsAre;

TEST(Swin, HasThePapersLayers) {
  const Architecture net("swin_t", 224, 224, 1000);
  EXPECT_EQ(net.parameters(), 28'288'354);
  EXPECT_NEAR(net.million_products(), 4'351, 50);
  EXPECT_EQ(net.count("softmax"), 12);
  EXPECT_EQ(net.count("matmul"), 12 * 2);
  EXPECT_EQ(net.count("linear"), 12 * 4 + 3 + 1);
  EXPECT_EQ(net.count("layer_norm"), 1 + 12 * 2 + 3 + 1);
  // Every other block is shifted, but for the last stage, which is one window.
  EXPECT_EQ(net.count("roll"), 2 * 5);
  EXPECT_EQ(net.weights_like(".attention_mask"), 3) << "blocks of a stage share one";
}

TEST(Swin, StagesHaveThePapersSizes) {
  const Architecture net("swin_t", 224, 112);
  EXPECT_THAT(net.output_of("features.0"), ElementsAre(56, 28, 96));
  EXPECT_THAT(net.output_of("features.1"), ElementsAre(56, 28, 96));
  EXPECT_THAT(net.output_of("features.3"), ElementsAre(28, 14, 192));
  EXPECT_THAT(net.output_of("features.5"), ElementsAre(14, 7, 384));
  EXPECT_THAT(net.output_of("features.7"), ElementsAre(7, 4, 768));
}

TEST(Swin, WindowsMeetAnyPicture) {
  const Architecture net("swin_t", 50, 72);
  EXPECT_THAT(net.output_of("features.1"), ElementsAre(12, 18, 96));
  EXPECT_THAT(net.output_of("features.3"), ElementsAre(6, 9, 192));
  net.expect_independent_samples();
}

}  // namespace
}  // namespace pareto::model::zoo
