#include "partitioner/model/graph/module_ends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/graph/hand_made.h"

namespace pareto::model {
namespace {

using test::HandMade;
using ::testing::ElementsAre;

/// Returns operators in a row, one for each scope.
HandMade chain(const std::vector<std::string>& scopes) {
  HandMade made;
  made.input("v0");
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    made.op(fmt::format("v{}", i + 1), "aten::relu", scopes[i], {fmt::format("v{}", i)});
  }
  return made;
}

TEST(OuterModules, PathsHavePrefixes) {
  EXPECT_THAT(path_prefixes("a.b.0"), ElementsAre("a", "a.b", "a.b.0"));
  EXPECT_THAT(path_prefixes(""), ElementsAre());
}

TEST(OuterModules, ASequenceIsReplacedByItsParts) {
  const auto made =
      chain({"features.0", "features.1", "features.2", "classifier.0", "classifier.1"});
  EXPECT_THAT(outer_modules(made.graph()), ElementsAre("features.0", "features.1", "features.2",
                                                       "classifier.0", "classifier.1"));
}

TEST(OuterModules, SmallModulesInsideStayWhole) {
  const auto made = chain({"features.0.0", "features.0.1", "features.0.2", "features.1.conv.0.0",
                           "features.1.conv.0.1", "features.1.conv.1", "features.1.conv.2"});
  EXPECT_THAT(outer_modules(made.graph()), ElementsAre("features.0", "features.1"));
}

TEST(OuterModules, StagesOfBlocksAreReplacedByTheirBlocks) {
  const auto made = chain({"conv1", "layer1.0.conv1", "layer1.0.conv2", "layer1.1.conv1",
                           "layer1.1.conv2", "backbone.stage.0.a", "backbone.stage.0.b",
                           "backbone.stage.1.a", "backbone.stage.1.b", "backbone.norm", "fc"});
  EXPECT_THAT(outer_modules(made.graph()),
              ElementsAre("conv1", "layer1.0", "layer1.1", "backbone.stage.0", "backbone.stage.1",
                          "backbone.norm", "fc"));
}

TEST(OuterModules, BranchesSideBySideAreNoSequence) {
  HandMade made;
  made.input("x").op("s", "aten::conv2d", "stem", {"x"});
  made.op("a", "aten::conv2d", "mixed.branch1.conv", {"s"});
  made.op("a2", "aten::relu", "mixed.branch1", {"a"});
  made.op("b", "aten::conv2d", "mixed.branch2.conv", {"s"});
  made.op("b2", "aten::relu", "mixed.branch2", {"b"});
  made.op("c", "aten::cat", "mixed", {"a2", "b2"});
  made.op("d", "aten::linear", "fc", {"c"});
  EXPECT_THAT(outer_modules(made.graph()), ElementsAre("stem", "mixed", "fc"));
}

TEST(OuterModules, LayersThatAppendToOneListAreASequence) {
  HandMade made;
  made.input("x").op("list", "prim::ListConstruct", "dense", {"x"});
  for (const std::string layer : {"layer1", "layer2"}) {
    made.op(layer + "cat", "aten::cat", "dense." + layer, {"list"});
    made.op(layer + "conv", "aten::conv2d", "dense." + layer + ".conv", {layer + "cat"});
    made.op(layer + "relu", "aten::relu", "dense." + layer + ".relu", {layer + "conv"});
    made.op(layer + "end", "aten::append", "dense", {"list", layer + "relu"});
  }
  made.op("all", "aten::cat", "dense", {"list"}).op("fc", "aten::linear", "fc", {"all"});
  EXPECT_THAT(outer_modules(made.graph()), ElementsAre("dense.layer1", "dense.layer2", "fc"));
}

TEST(OuterModules, AWrapperIsNoLevel) {
  const auto made = chain({"model.a", "model.b.0", "model.b.1"});
  EXPECT_THAT(outer_modules(made.graph()), ElementsAre("model.a", "model.b.0", "model.b.1"));
}

TEST(OuterModules, NoModulesAtAll) { EXPECT_TRUE(outer_modules(chain({"", ""}).graph()).empty()); }

}  // namespace
}  // namespace pareto::model
