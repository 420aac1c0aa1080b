#include "partitioner/model/graph/example_specs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/graph/hand_made.h"

namespace pareto::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Value shaped(Shape shape) { return Tensor::allocate(DType::kFloat32, std::move(shape)).value(); }

/// Returns a run that saw those values.
ExampleRun run_that_saw(std::int64_t batch, const std::vector<Value>& seen) {
  ExampleRun run;
  run.batch = batch;
  for (const Value& value : seen) run.seen.emplace_back(value);
  run.layouts.resize(seen.size());
  run.reasons.resize(seen.size());
  run.ranges.resize(seen.size());
  run.samples.resize(seen.size());
  return run;
}

/// x ─▶ a ─▶ b
Graph two_layers(const std::string& first = "aten::relu",
                 const std::string& second = "aten::relu") {
  test::HandMade made;
  return made.input("x")
      .op("a", first, "stem", {"x"})
      .op("b", second, "", {"a"})
      .output("b")
      .graph();
}

TEST(AddSpecs, DimensionsThatDifferFollowTheBatch) {
  Graph graph = two_layers();
  const auto reasons = add_specs({run_that_saw(2, {shaped({2, 4}), shaped({4, 3}), shaped({7})}),
                                  run_that_saw(3, {shaped({3, 4}), shaped({6, 3}), shaped({7})})},
                                 graph);
  EXPECT_THAT(reasons, ElementsAre("", "", ""));
  EXPECT_EQ(graph.values[0].spec.describe(), "float32[Bx4]");
  EXPECT_EQ(graph.values[1].spec.describe(), "float32[2Bx3]");
  EXPECT_EQ(graph.values[2].spec.describe(), "float32[7]");
}

TEST(AddSpecs, OneRunLeavesSizesAsTheyAre) {
  Graph graph = two_layers();
  const std::vector<ExampleRun> runs{run_that_saw(2, {shaped({2}), shaped({2}), shaped({2})})};
  EXPECT_THAT(add_specs(runs, graph), ElementsAre("", "", ""));
  EXPECT_EQ(graph.values[0].spec.describe(), "float32[2]");
}

TEST(AddSpecs, WhatCannotBeJoinedSaysWhy) {
  Graph graph = two_layers();
  const auto reasons =
      add_specs({run_that_saw(2, {shaped({2}), shaped({5}), Value(std::int64_t{1})}),
                 run_that_saw(4, {shaped({4}), shaped({6}), Value("text")})},
                graph);
  EXPECT_EQ(reasons[0], "");
  EXPECT_THAT(reasons[1], HasSubstr(" at batch ")) << "one and a half a sample";
}

TEST(AddSpecs, AValueThatWasNotSeenHasItsReason) {
  Graph graph = two_layers();
  ExampleRun first = run_that_saw(2, {shaped({2}), shaped({2}), shaped({2})});
  ExampleRun last = run_that_saw(3, {shaped({3}), shaped({3}), shaped({3})});
  first.seen[1] = fail(ErrorCode::kInvalidArgument, "a device");
  last.reasons[2] = "it holds views";
  EXPECT_THAT(add_specs({first, last}, graph), ElementsAre("", "a device", "it holds views"));
}

TEST(AddSpecs, RangesOfBothRunsCount) {
  Graph graph = two_layers();
  ExampleRun first = run_that_saw(2, {shaped({2}), shaped({2}), shaped({2})});
  ExampleRun last = run_that_saw(3, {shaped({3}), shaped({3}), shaped({3})});
  first.ranges[0] = IntegerRange{-5, 3};
  last.ranges[0] = IntegerRange{0, 9};
  last.ranges[1] = IntegerRange{1, 2};
  last.samples[0] = {1, 2};
  add_specs({first, last}, graph);
  EXPECT_EQ(graph.values[0].spec.range->low, -5);
  EXPECT_EQ(graph.values[0].spec.range->high, 9);
  EXPECT_EQ(graph.values[1].spec.range->high, 2);
  EXPECT_FALSE(graph.values[2].spec.range);
  EXPECT_THAT(graph.values[0].spec.sample, ElementsAre(1, 2));
}

TEST(CheckSpecs, AThirdBatchMayTellOtherwise) {
  Graph graph = two_layers();
  auto reasons = add_specs({run_that_saw(2, {shaped({2}), shaped({4}), shaped({3})}),
                            run_that_saw(3, {shaped({3}), shaped({4}), shaped({3})})},
                           graph);
  check_specs(run_that_saw(8, {shaped({8}), shaped({8}), shaped({3})}), graph, reasons);
  EXPECT_EQ(reasons[0], "");
  EXPECT_NE(reasons[1], "") << "it was rounded up to a multiple of 4";
  EXPECT_EQ(reasons[2], "");
}

TEST(CheckSpecs, AReasonThatIsThereStays) {
  Graph graph = two_layers();
  std::vector<std::string> reasons{"first", "", ""};
  ExampleRun run = run_that_saw(8, {shaped({9}), shaped({9}), shaped({9})});
  run.seen[1] = fail(ErrorCode::kInvalidArgument, "not seen");
  check_specs(run, graph, reasons);
  EXPECT_EQ(reasons[0], "first");
  EXPECT_EQ(reasons[1], "") << "what was not seen tells nothing";
  EXPECT_NE(reasons[2], "");
}

TEST(NameMakers, TheFirstThatMakesSuchASizeIsNamed) {
  const Graph graph = two_layers("aten::one_hot", "aten::relu");
  std::vector<std::string> reasons{"", "is 3 at batch 2", "is 5 at batch 2"};
  name_makers(graph, reasons);
  EXPECT_EQ(reasons[1], "is 3 at batch 2 (made by aten::one_hot, op 0 in stem)");
  EXPECT_EQ(reasons[2], "is 5 at batch 2 (made by aten::one_hot, op 0 in stem)");
  std::vector<std::string> later{"", "its shape depends on the data", "dimension 1 follows size H"};
  name_makers(graph, later);
  EXPECT_EQ(later[1], "its shape depends on the data") << "that is no reason of sizes";
  EXPECT_EQ(later[2], "dimension 1 follows size H (made by aten::relu, op 1)");
}

TEST(TreatsSamplesAlike, LayersWithTheBatchInFrontDo) {
  EXPECT_TRUE(treats_samples_alike(two_layers()));
  EXPECT_TRUE(treats_samples_alike(two_layers("aten::relu_", "aten::linear")));
  EXPECT_FALSE(treats_samples_alike(two_layers("aten::relu", "aten::view")));
  EXPECT_FALSE(treats_samples_alike(two_layers("aten::cumsum", "aten::relu")));
  Graph graph = two_layers();
  graph.operators[1].inner_operators = 1;
  EXPECT_FALSE(treats_samples_alike(graph));
}

TEST(TreatsSamplesAlike, NotIfTheBatchIsElsewhereOrNowhere) {
  for (const auto& dims : std::vector<std::vector<SymbolicDim>>{
           {}, {{4, 0}, {0, 1}}, {{0, 2}, {4, 0}}, {{1, 1}, {4, 0}}, {{4, 0}}, {{0, 1}, {0, 1}}}) {
    Graph graph = two_layers();
    graph.values[1].spec = test::tensor_spec(dims);
    EXPECT_FALSE(treats_samples_alike(graph));
  }
  Graph graph = two_layers();
  graph.values[1].spec = spec_of(Value(std::int64_t{5}));
  EXPECT_FALSE(treats_samples_alike(graph)) << "a number is of no sample";
}

}  // namespace
}  // namespace pareto::model
