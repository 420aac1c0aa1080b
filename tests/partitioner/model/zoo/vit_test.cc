// ViT-B/16 as in its paper (Dosovitskiy et al., 2020, table 1).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/zoo/architecture.h"

namespace pareto::model::zoo {
namespace {

using test::Architecture;
using testing::ElementsAre;

TEST(VisionTransformer, HasThePapersLayers) {
  const Architecture net("vit_b_16", 224, 224, 1000);
  EXPECT_EQ(net.parameters(), 86'567'656);
  EXPECT_NEAR(net.million_products(), 16'867, 50);
  EXPECT_EQ(net.count("conv2d"), 1);
  EXPECT_EQ(net.count("linear"), 12 * 4 + 1);
  EXPECT_EQ(net.count("matmul"), 12 * 2);
  EXPECT_EQ(net.count("softmax"), 12);
  EXPECT_EQ(net.count("layer_norm"), 12 * 2 + 1);
  EXPECT_EQ(net.count("gelu"), 12);
  EXPECT_THAT(net.output_of("encoder.layers.encoder_layer_0"), ElementsAre(197, 768));
  EXPECT_THAT(net.output_of("heads.head"), ElementsAre(1000));
}

TEST(VisionTransformer, HasAPlaceForEachPatchAndTheToken) {
  const Architecture net("vit_b_16", 32, 80);
  EXPECT_THAT(net.output_of("conv_proj"), ElementsAre(768, 2, 5));
  EXPECT_THAT(net.output_of("encoder.ln"), ElementsAre(2 * 5 + 1, 768));
  net.expect_independent_samples();
}

TEST(VisionTransformer, RefusesPicturesThatItsPatchesDoNotCover) {
  ModelOptions options;
  options.input = {{{3, 224, 230}, DType::kFloat32}};
  const auto model = open_model("vit_b_16", options);
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message,
              testing::HasSubstr("height and width are multiples of 16, not 3x224x230"));
}

}  // namespace
}  // namespace pareto::model::zoo
