#include "client/flags/model_notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::client {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

model::Graph net(const std::vector<const char*>& kinds) {
  model::Graph graph;
  graph.model = "net";
  for (const char* kind : kinds) {
    graph.operators.emplace_back().kind = kind;
    graph.operators.back().scope = "head";
  }
  return graph;
}

TEST(ModelNotices, AModelSavedInTrainingModeIsTold) {
  auto graph = net({"aten::relu", "aten::dropout", "aten::batch_norm", "aten::dropout"});
  EXPECT_THAT(model_notices(graph), IsEmpty());
  for (model::Operator& op : graph.operators) op.trains = op.kind != "aten::relu";
  EXPECT_THAT(model_notices(graph),
              ElementsAre(AllOf(HasSubstr("net "), HasSubstr("1 batch_norm, 2 dropout"),
                                HasSubstr("eval()"))));
}

TEST(ModelNotices, RandomOperatorsAreNamedWithTheirPlace) {
  auto graph = net({"aten::randn_like", "aten::relu"});
  graph.operators[0].is_random = true;
  EXPECT_THAT(model_notices(graph),
              ElementsAre(AllOf(HasSubstr("1 randn_like in head"), HasSubstr("verify"))));
}

TEST(ModelNotices, ADropoutThatIsAlwaysOnIsNotToldToCallEval) {
  auto graph = net({"aten::dropout"});
  graph.operators[0].is_random = graph.operators[0].always_drops = true;
  EXPECT_THAT(model_notices(graph),
              ElementsAre(AllOf(HasSubstr("1 dropout in head"), HasSubstr("F.dropout"),
                                Not(HasSubstr("eval()")))));
}

TEST(ModelNotices, BuffersThatAModelWritesAreNamed) {
  auto graph = net({"aten::copy_", "aten::batch_norm"});
  graph.weights.resize(2);
  graph.weights[0].name = "past";
  graph.weights[0].is_written = true;
  graph.operators[0].weights = {0};
  graph.weights[1].name = "running_mean";
  graph.weights[1].is_written = true;
  graph.operators[1].weights = {1};
  graph.operators[1].trains = true;
  const auto notices = model_notices(graph);
  ASSERT_EQ(notices.size(), 2U);
  EXPECT_THAT(notices[1], AllOf(HasSubstr("into past as"), Not(HasSubstr("running_mean"))));
}

TEST(ModelNotices, ALoopThatStaysWholeSaysHowLongItIs) {
  auto graph = net({"prim::Loop"});
  graph.operators[0].steps = 12000;
  EXPECT_THAT(model_notices(graph), ElementsAre(HasSubstr("a loop of 12000 steps in head")));
}

TEST(ModelNotices, IntegersThatAModelCannotIndexByAreSuspected) {
  const auto shapes = model::parse_input_shapes("3x8;7:int64=1..4999;2:uint8=0..255").value();
  EXPECT_EQ(integers_hint("index out of range in self", shapes),
            " (the integers of input 1 run from 1 to 4999: does the model take these?)");
  EXPECT_EQ(integers_hint("index 7 is out of bounds for dimension 0 with size 5",
                          model::parse_input_shapes("3x8").value()),
            "");
  EXPECT_EQ(integers_hint("no such file", shapes), "");
}

}  // namespace
}  // namespace pareto::client
