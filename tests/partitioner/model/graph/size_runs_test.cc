// Models whose inputs may have several sizes: what crosses a cut follows them, or does not cross.
#include "partitioner/model/graph/size_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "partitioner/model/graph/cuts.h"
#include "partitioner/model/graph/varying_size.h"
#include "partitioner/model/zoo/model_builder.h"
#include "tests/partitioner/scripted.h"

namespace pareto::model {
namespace {

using test::open;
using test::scripted;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> crossing(const Model& model) {
  std::vector<std::string> all;
  for (const SplitPoint& point : model.split_points()) {
    if (!point.legal) continue;
    for (const std::int64_t value : live_values(model.graph(), {{0, point.position}})) {
      all.push_back(describe(model.graph(), model.graph().values[static_cast<std::size_t>(value)]));
    }
  }
  return all;
}

std::string refused_cuts(const Model& model) {
  std::string all;
  for (const SplitPoint& point : model.split_points()) all += point.reason + "\n";
  return all;
}

TEST(Sizes, OfPicturesAreFollowedThroughANetwork) {
  zoo::ModelOptions options;
  options.num_classes = 10;
  options.input = parse_input_shapes("3x64..128/32x64..96/32").value();
  const auto model = zoo::open_model("resnet18", options);
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ(model->graph().sizes.size(), 2U);
  EXPECT_EQ(model->graph().sizes[0], (VaryingSize{"H", 64, 128, 32}));
  EXPECT_EQ(model->graph().sizes[1].name, "W");
  const auto all = crossing(*model);
  EXPECT_THAT(all, Contains("float32[Bx64xH/2xW/2]"));
  EXPECT_THAT(all, Contains("float32[Bx64xH/4xW/4]"));
  EXPECT_THAT(all, Contains("float32[Bx512xH/32xW/32]"));
  EXPECT_THAT(all, Contains("float32[Bx512]"));
  // It is opened at the largest of them.
  EXPECT_EQ(model->graph().values[0].spec.describe(), "float32[Bx3x128x96]");
}

TEST(Sizes, ThatDoNotFollowOneOfThemDoNotCross) {
  const auto model = open(scripted("Tokens",
                                   "def forward(self, x):\n"
                                   "    y = torch.relu(x)\n"
                                   "    t = y.flatten(2)\n"
                                   "    u = torch.tanh(t).sum([2])\n"
                                   "    return torch.sigmoid(u)\n"),
                          "3x8..16x8..16");
  ASSERT_TRUE(model) << model.error().message;
  const std::string reasons = refused_cuts(*model);
  EXPECT_THAT(reasons, HasSubstr("follows the size H and the size W"));
  EXPECT_THAT(reasons, HasSubstr("made by aten::flatten"));
  EXPECT_THAT(crossing(*model), Contains("float32[Bx3xHxW]"));
}

TEST(Sizes, ThatGrowWithTheBatchTooDoNotCross) {
  const auto model = open(scripted("Rows",
                                   "def forward(self, x):\n"
                                   "    t = torch.relu(x).flatten(0, 1)\n"
                                   "    return torch.tanh(t)\n"),
                          "8..16x5");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(refused_cuts(*model), HasSubstr("follows the batch and the size L"));
}

TEST(Sizes, AModelThatHoldsOneSaysWhichOperatorDoes) {
  const auto model = open(scripted("Fixed",
                                   "def forward(self, x):\n"
                                   "    y = torch.relu(x).view([-1, 48])\n"
                                   "    return torch.tanh(y).matmul(torch.ones([48, 2]))\n"),
                          "3x2..4x4");
  // 3 × 4 × 4 = 48, and 3 × 2 × 4 of two samples are none.
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("cannot vary"));
  EXPECT_THAT(model.error().message, HasSubstr("aten::view"));
  EXPECT_THAT(model.error().message, HasSubstr("give one size (3x4x4)"));
}

TEST(Sizes, MayHaveStepsAndAreWrittenAsTheyWereRead) {
  for (const char* text :
       {"3x192..256x192..256", "3x192..256/32x224", "Bx8..16;2xBx8", "128..512/128:int64=1..39"}) {
    const auto shapes = parse_input_shapes(text);
    ASSERT_TRUE(shapes) << shapes.error().message;
    const auto again = parse_input_shapes(to_text(*shapes));
    ASSERT_TRUE(again) << to_text(*shapes);
    EXPECT_EQ(to_text(*again), to_text(*shapes));
    EXPECT_EQ(again->front().sizes, shapes->front().sizes) << text;
  }
  EXPECT_EQ(to_text(parse_input_shapes("3x192..256x192..250/32").value()),
            "3x192..256x192..224/32");
  EXPECT_THAT(parse_input_shapes("3x256..192").error().message, HasSubstr("no range of sizes"));
  EXPECT_FALSE(parse_input_shapes("3x4..8/9"));
  EXPECT_FALSE(parse_input_shapes("3x4..8/0"));
  EXPECT_FALSE(parse_input_shapes("3x..8"));
  EXPECT_FALSE(varying_sizes(parse_input_shapes("8..16;8..32").value()));
  EXPECT_EQ(varying_sizes(parse_input_shapes("8..16;8..16x4..5").value()).value().size(), 2U);
}

TEST(Sizes, DataMayBeOfAnyOfThem) {
  Tensor data = Tensor::allocate(DType::kFloat32, {2, 3, 10, 8}).value();
  std::memset(data.mutable_bytes().data(), 0, data.size_bytes());
  const auto shapes =
      with_data(parse_input_shapes("3x8..16/2x8..16/2").value(), {data}, {"data.npy"});
  ASSERT_TRUE(shapes) << shapes.error().message;
  EXPECT_EQ(shapes->front().per_sample, (Shape{3, 10, 8}));
  EXPECT_EQ(shapes->front().sizes.size(), 2U);
  EXPECT_FALSE(with_data(parse_input_shapes("3x8..16/4x8..16").value(), {data}, {"data.npy"}));
}

TEST(Sizes, ArePartOfTheModelsDigest) {
  const auto module = scripted("Any", "def forward(self, x):\n    return torch.relu(x) + 1\n");
  EXPECT_NE(open(module, "3x8..16")->digest(), open(module, "3x16")->digest());
}

}  // namespace
}  // namespace pareto::model
