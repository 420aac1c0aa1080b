#include "partitioner/planning/frontiers/select_cuts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "partitioner/model/graph/cuts.h"
#include "partitioner/planning/frontiers/cut_figures.h"
#include "tests/coordinator/support/small_model.h"
#include "tests/partitioner/model/graph/hand_made.h"

namespace pareto::planning {
namespace {

using test::HandMade;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(const Expected<std::vector<model::Cut>>& cuts) {
  EXPECT_TRUE(cuts) << cuts.error().message;
  std::vector<std::string> all;
  if (!cuts) return all;
  for (const model::Cut& cut : *cuts) all.push_back(cut.name);
  return all;
}

class SelectCuts : public testing::Test {
 protected:
  const model::Model model_ = test::small_model();
};

TEST_F(SelectCuts, FrontiersAreAllThatMayBeCut) {
  const auto cuts = select_cuts(model_, "frontiers");
  ASSERT_TRUE(cuts) << cuts.error().message;
  // Two branches of one place each behind a squeeze, times eight, and the places in a row.
  EXPECT_GT(cuts->size(), 30U);
  std::set<plan::OperatorRanges> sets;
  std::set<std::string> called;
  bool is_set = false;
  for (const model::Cut& cut : *cuts) {
    EXPECT_TRUE(model::check_cut(model_.graph(), cut.before)) << cut.name;
    EXPECT_TRUE(sets.insert(cut.before).second);
    EXPECT_TRUE(called.insert(cut.name).second) << cut.name;
    is_set = is_set || model::is_name_of_set(cut.name);
    const auto again = select_cuts(model_, cut.name);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_THAT(*again, ElementsAre(cut));
  }
  EXPECT_TRUE(is_set);
  EXPECT_TRUE(called.contains("only:features.3.expand3x3_activation"));
}

TEST_F(SelectCuts, PositionsAndSetsStandInOneList) {
  EXPECT_THAT(
      names(select_cuts(model_, "after:features.4,only:features.3.expand3x3_activation,op:11")),
      ElementsAre("only:features.3.expand3x3_activation", "after:features.3", "after:features.4"));
  EXPECT_EQ(names(select_cuts(model_, "modules")).size(),
            model::select_split_points(model_, "modules")->size());
  EXPECT_THAT(select_cuts(model_, "after:features.3+nothing").error().message,
              HasSubstr("no module \"nothing\""));
  EXPECT_THAT(select_cuts(model_, "").error().message, HasSubstr("frontiers"));
  EXPECT_THAT(cuts_named_twice(model_, "op:5:7-9,only:features.3.expand3x3_activation,op:20"),
              ElementsAre("op:5:7-9 and only:features.3.expand3x3_activation are one cut, "
                          "only:features.3.expand3x3_activation"));
}

TEST_F(SelectCuts, TrainableOnesHaveSomethingToTrainBehindThem) {
  // The last convolution is the last operator with parameters.
  const auto all = select_cuts(model_, "frontiers").value();
  const auto trainable = select_cuts(model_, "frontiers", {.trainable = true}).value();
  EXPECT_LT(trainable.size(), all.size());
  for (const model::Cut& cut : all) {
    const auto figures = figures_of(model_.graph(), cut.before, 1).value();
    EXPECT_EQ(std::ranges::count(trainable, cut) > 0, figures.after.trainable > 0) << cut.name;
  }
  const auto last = select_cuts(model_, "percent:100").value();
  EXPECT_THAT(select_cuts(model_, last.front().name, {.trainable = true}).error().message,
              HasSubstr("no parameter behind it is trainable"));
  const auto percent = select_cuts(model_, "percent:100", {.trainable = true});
  ASSERT_TRUE(percent) << "a share of the work passes over those";
  EXPECT_TRUE(has_trainable_suffix(model_.graph(), percent->front().before));
  const planning::CutOptions classifier_frozen{.trainable = true, .frozen = {"classifier"}};
  const auto before = select_cuts(model_, "percent:100", classifier_frozen);
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_LT(before->front().before.front().end, percent->front().before.front().end);
}

TEST(SelectsSets, TellsSetsFromPositions) {
  EXPECT_TRUE(selects_sets("modules,after:a+b"));
  EXPECT_TRUE(selects_sets("frontiers"));
  EXPECT_TRUE(selects_sets("op:3:5-6"));
  EXPECT_FALSE(selects_sets("modules,after:a,op:3,percent:4"));
  EXPECT_EQ(positions_among("op:3,frontiers,after:a+b,auto"), "op:3,auto");
  EXPECT_EQ(positions_among("frontiers"), "modules");
}

TEST(CutFigures, AreThoseOfEitherSide) {
  HandMade made;
  made.input("x", 10).weight("both", 40).weight("right", 4).weight("frozen", 8);
  made.op("a", "aten::relu", "", {"x"}, 1, {0}).op("b", "aten::relu", "", {"x"}, 2, {0, 1});
  made.op("c", "aten::mul", "", {"a"}, 4, {2}).op("d", "aten::mul", "", {"b"}, 8);
  made.op("e", "aten::add", "", {"c", "d"}, 16).output("e");
  model::Graph graph = made.graph();
  graph.weights[0].is_trainable = true;
  graph.weights[1].is_trainable = true;
  const auto figures = figures_of(graph, {{1, 2}}, 3);
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_EQ(figures->bytes, 3U * (10 + 4) * 4) << "the input, which \"a\" still reads, and \"b\"";
  EXPECT_EQ(figures->before.flops, 2);
  EXPECT_EQ(figures->after.flops, 1 + 4 + 8 + 16);
  EXPECT_EQ(figures->before.weight_bytes, 44U);
  EXPECT_EQ(figures->after.weight_bytes, 48U);
  EXPECT_EQ(figures->before.parameters, 11);
  EXPECT_EQ(figures->after.parameters, 12);
  EXPECT_EQ(figures->after.trainable, 10);
  EXPECT_TRUE(has_trainable_suffix(graph, {{1, 2}}));
  EXPECT_FALSE(has_trainable_suffix(graph, {{0, 2}})) << "only a frozen one lies behind it";
  EXPECT_FALSE(has_trainable_suffix(graph, {{1, 2}}, {"both"})) << "\"right\" lies before it";
  EXPECT_TRUE(has_trainable_suffix(graph, {{1, 2}}, {"bo", "right"})) << "\"bo\" is no module";
}

}  // namespace
}  // namespace pareto::planning
