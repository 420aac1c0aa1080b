// YOLOv8n as in its published configuration (Jocher et al., 2023).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/zoo/architecture.h"

namespace pareto::model::zoo {
namespace {

using test::Architecture;
using testing::ElementsAre;

TEST(Yolo, HasThePublishedLayers) {
  const Architecture net("yolov8n", 640, 640, 80);
  EXPECT_EQ(net.parameters(), 3'157'200);
  EXPECT_NEAR(net.million_products(), 4'370, 30);
  EXPECT_EQ(net.count("max_pool2d"), 3);
  EXPECT_EQ(net.count("upsample_nearest2d"), 2);
  // The last convolutions of two branches at three sizes of cells, and the mean of distances.
  EXPECT_EQ(net.count("conv2d"), net.count("batch_norm") + 2 * 3 + 1);
  EXPECT_EQ(net.count("silu"), net.count("batch_norm"));
  EXPECT_THAT(net.output_of("model.9"), ElementsAre(256, 20, 20));
  EXPECT_THAT(net.output_of("model.15"), ElementsAre(64, 80, 80));
  EXPECT_THAT(net.output_of("model.22"), ElementsAre(84, 8400));
}

TEST(Yolo, StepsOfDistancesAreNotTrained) {
  const Architecture net("yolov8n", 32, 32);
  for (const GraphWeight& weight : net.graph().weights) {
    EXPECT_EQ(weight.is_trainable, weight.is_parameter && weight.name != "model.22.dfl.conv.weight")
        << weight.name;
  }
}

TEST(Yolo, FindsABoxInEachCell) {
  const Architecture net("yolov8n", 64, 96, 3);
  EXPECT_THAT(net.output_of("model.22"), ElementsAre(7, 8 * 12 + 4 * 6 + 2 * 3));
  const auto inputs = net.model().example_inputs(1, 5);
  ASSERT_TRUE(inputs);
  const auto outputs = net.model().run_whole(*inputs);
  ASSERT_TRUE(outputs) << outputs.error().message;
  const Tensor& found = *outputs->front().get_if<Tensor>();
  const auto* numbers = reinterpret_cast<const float*>(found.bytes().data());
  const std::int64_t cells = found.shape()[2];
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    const auto number = [&](std::int64_t row) { return numbers[row * cells + cell]; };
    // Distances are means of 0 … 15 cells: boxes are at most 30 cells wide, around their cell.
    const float side = cell < 96 ? 8.0F : cell < 120 ? 16.0F : 32.0F;
    for (const std::int64_t size : {2, 3}) {
      EXPECT_GT(number(size), 0);
      EXPECT_LE(number(size), 30 * side);
    }
    for (const std::int64_t score : {4, 5, 6}) {
      EXPECT_GE(number(score), 0);
      EXPECT_LE(number(score), 1);
    }
  }
}

TEST(Yolo, RefusesPicturesThatItsCellsDoNotCover) {
  ModelOptions options;
  options.input = {{{3, 640, 650}, DType::kFloat32}};
  const auto model = open_model("yolov8n", options);
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message,
              testing::HasSubstr("height and width are multiples of 32, not 3x640x650"));
}

TEST(Yolo, PicturesOfABatchAreIndependent) {
  Architecture("yolov8n", 64, 32, 3).expect_independent_samples();
}

}  // namespace
}  // namespace pareto::model::zoo
