#include "client/report/graph/graph_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/report/graph/toy_model.h"

namespace pareto::report::graph {
namespace {

using test::two_branches;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::vector<std::string> titles(const GraphPicture& picture) {
  std::vector<std::string> all;
  for (const PictureNode& node : picture.nodes) all.push_back(node.title);
  return all;
}

std::vector<std::pair<std::size_t, std::size_t>> ends(const GraphPicture& picture) {
  std::vector<std::pair<std::size_t, std::size_t>> all;
  for (const PictureEdge& edge : picture.edges) all.emplace_back(edge.from, edge.to);
  return all;
}

TEST(GraphPicture, HasACardForEachOperator) {
  const auto picture =
      picture_of(two_branches(), {.view = PictureView::kOperators, .batch = 2}).value();
  EXPECT_THAT(titles(picture), ElementsAre("input", "conv2d", "relu", "conv2d", "conv2d",
                                           "batch_norm", "size", "ListConstruct", "cat", "output"));
  EXPECT_THAT(ends(picture),
              ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 3), Pair(2, 4), Pair(3, 7), Pair(4, 5),
                          Pair(5, 6), Pair(5, 7), Pair(7, 8), Pair(8, 9)));
  const PictureNode& conv = picture.nodes[1];
  EXPECT_THAT(conv.makes, ElementsAre("Bx4x8x8"));
  EXPECT_EQ(conv.activation_bytes, 2U * 4 * 8 * 8 * 4) << "at the batch";
  EXPECT_EQ(conv.flops, 5000);
  EXPECT_EQ(conv.parameters(), 4 * 3 * 3 * 3 + 4);
  ASSERT_EQ(conv.weights.size(), 2U);
  EXPECT_EQ(conv.weights[0].name, "weight");
  EXPECT_EQ(conv.weights[0].shape, "4x3x3x3");
  EXPECT_THAT(picture.nodes[7].makes, ElementsAre("List[[Bx4x8x8], [Bx6x8x8]]"));
  EXPECT_TRUE(picture.nodes[7].has_tensors);
  EXPECT_FALSE(picture.nodes[6].has_tensors) << "a number";
}

TEST(GraphPicture, TellsTrainableWeightsFromFrozenOnesAndBuffers) {
  const auto picture = picture_of(two_branches(), {.view = PictureView::kOperators}).value();
  EXPECT_EQ(picture.nodes[3].weights[0].kind, WeightRow::Kind::kFrozen);
  EXPECT_EQ(picture.nodes[3].elements(WeightRow::Kind::kFrozen), 16);
  EXPECT_EQ(picture.nodes[5].weights[0].kind, WeightRow::Kind::kTrainable);
  EXPECT_EQ(picture.nodes[5].weights[1].kind, WeightRow::Kind::kBuffer);
  EXPECT_EQ(picture.nodes[5].parameters(), 6) << "buffers are none";
}

TEST(GraphPicture, FramesModulesOfSeveralCards) {
  const auto picture = picture_of(two_branches(), {.view = PictureView::kOperators}).value();
  ASSERT_EQ(picture.clusters.size(), 2U) << "left is one card by itself";
  EXPECT_EQ(picture.clusters[0].title, "stem");
  EXPECT_EQ(picture.clusters[0].operators, 2U);
  EXPECT_EQ(picture.clusters[0].flops, 5256);
  EXPECT_EQ(picture.clusters[1].path, "right");
  EXPECT_EQ(picture.nodes[1].cluster, 1U);
  EXPECT_EQ(picture.nodes[1].inner_path, "conv");
  EXPECT_EQ(picture.nodes[4].cluster, 2U);
  EXPECT_EQ(picture.nodes[4].inner_path, "right.0") << "a number says nothing by itself";
  EXPECT_EQ(picture.nodes[3].cluster, 0U);
}

TEST(GraphPicture, MakesModulesOneCard) {
  const auto picture = picture_of(two_branches(), {.depth = 1}).value();
  EXPECT_THAT(titles(picture), ElementsAre("input", "stem", "conv2d", "right", "size",
                                           "ListConstruct", "cat", "output"));
  EXPECT_EQ(picture.nodes[1].contents, "conv2d, relu");
  EXPECT_EQ(picture.nodes[1].main_kind, "conv2d");
  EXPECT_EQ(picture.nodes[3].flops, 4768);
  EXPECT_THAT(picture.nodes[3].operators, ElementsAre(3, 4));
  EXPECT_THAT(picture.nodes[1].makes, ElementsAre("Bx4x8x8")) << "not what stays inside";
  EXPECT_TRUE(picture.clusters.empty());
  EXPECT_EQ(picture_of(two_branches(), {.depth = 2}).value().nodes.size(), 10U);
}

TEST(GraphPicture, ModulesAreAsDeepAsThereAreFewCards) {
  test::ToyModel toy("deep");
  std::int64_t x = toy.input(test::tensor_spec({1}));
  for (int block = 0; block < 20; ++block) {
    for (int layer = 0; layer < 5; ++layer) {
      x = toy.add("aten::relu", "blocks." + std::to_string(block) + "." + std::to_string(layer),
                  {x}, test::tensor_spec({1}));
    }
  }
  const auto picture = picture_of(toy.returning(x), {}).value();
  EXPECT_EQ(picture.depth, 2) << "100 cards of depth 3 are too many";
  EXPECT_EQ(picture.nodes.size(), 22U);
  EXPECT_EQ(picture.nodes[1].title, "blocks.0");
  EXPECT_EQ(picture.nodes[1].contents, "5 relu");
  ASSERT_EQ(picture.clusters.size(), 1U);
  EXPECT_EQ(picture.clusters[0].title, "blocks");
}

TEST(GraphPicture, ModulesThatRunInPartsAreSeveralCards) {
  test::ToyModel toy("parts");
  std::int64_t x = toy.input(test::tensor_spec({1}));
  for (const char* scope : {"a.x", "a.y", "", "a.x", "a.z"}) {
    x = toy.add("aten::relu", scope, {x}, test::tensor_spec({1}));
  }
  const auto picture = picture_of(toy.returning(x), {.depth = 1}).value();
  EXPECT_THAT(titles(picture), ElementsAre("input", "a (1 of 2)", "relu", "a (2 of 2)", "output"));
}

TEST(GraphPicture, ShowsStagesOfACutAndWhatCrossesIt) {
  // Before the cut: the stem and the right branch.
  GraphPictureOptions options{.view = PictureView::kOperators};
  options.cuts = {{"after:right", {{0, 2}, {3, 5}}}};
  const auto picture = picture_of(two_branches(), options).value();
  std::vector<std::size_t> stages;
  for (const PictureNode& node : picture.nodes) stages.push_back(node.stage);
  EXPECT_THAT(stages, ElementsAre(0, 0, 0, 1, 0, 0, 1, 1, 1, 1));
  std::vector<std::pair<std::size_t, std::size_t>> crossing;
  for (const PictureEdge& edge : picture.edges) {
    if (edge.crosses) crossing.emplace_back(edge.from, edge.to);
  }
  EXPECT_THAT(crossing, ElementsAre(Pair(2, 3), Pair(5, 6), Pair(5, 7)));
  EXPECT_TRUE(picture.nodes[2].is_boundary);
  EXPECT_FALSE(picture.nodes[1].is_boundary);
}

TEST(GraphPicture, NoCardLiesOnBothSidesOfACut) {
  GraphPictureOptions options{.depth = 1};
  options.cuts = {{"op:1", {{0, 1}}}, {"op:4", {{0, 4}}}};
  const auto picture = picture_of(two_branches(), options).value();
  EXPECT_THAT(titles(picture), ElementsAre("input", "conv2d", "relu", "conv2d", "conv2d",
                                           "batch_norm", "size", "ListConstruct", "cat", "output"));
  EXPECT_EQ(picture.nodes[1].stage, 0U);
  EXPECT_EQ(picture.nodes[4].stage, 1U);
  EXPECT_EQ(picture.nodes[5].stage, 2U);
  EXPECT_EQ(picture.stages(), 3U);
}

TEST(GraphPicture, SumsTimesOfOperators) {
  GraphPictureOptions options{.depth = 1, .times_ms = {1, 2, 3, 4, 5, 6, 7, 8}};
  EXPECT_EQ(heat_of(picture_of(two_branches(), options).value().nodes[3], Heat::kTime), 9);
  options.times_ms.pop_back();
  const auto picture = picture_of(two_branches(), options);
  ASSERT_FALSE(picture);
  EXPECT_THAT(picture.error().message, HasSubstr("times of 7 operators, and toy has 8"));
}

TEST(Heats, AreFoundByTheirNames) {
  for (const std::string& name : heat_names()) EXPECT_TRUE(parse_heat(name)) << name;
  const auto odd = parse_heat("flop");
  ASSERT_FALSE(odd);
  EXPECT_THAT(odd.error().message, HasSubstr("did you mean flops?"));
  EXPECT_EQ(heat_text(Heat::kTime, 1.234), "1.234 ms");
  EXPECT_EQ(heat_text(Heat::kActivations, 2048), "2.00 KiB");
  EXPECT_EQ(heat_text(Heat::kFlops, 236e6), "236 M");
}

}  // namespace
}  // namespace pareto::report::graph
