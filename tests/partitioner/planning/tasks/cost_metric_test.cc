#include "partitioner/planning/tasks/cost_metric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::tasks {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<LayerCost> layers() {
  LayerCost conv{.name = "conv", .kind = "aten::conv2d", .time = Nanoseconds(100)};
  conv.flops = 1000;
  conv.bytes = 200;
  LayerCost relu{.name = "relu", .kind = "aten::relu", .time = Nanoseconds(10)};
  relu.bytes = 50;
  return {conv, relu};
}

std::vector<double> costs(const std::string& text) {
  return CostMetric::parse(text).value().costs_of(layers()).value();
}

void refuses_metric(const std::string& text, const testing::Matcher<std::string>& sentence) {
  const auto metric = CostMetric::parse(text);
  ASSERT_FALSE(metric) << text;
  EXPECT_EQ(metric.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(metric.error().message, sentence);
}

TEST(CostMetric, EveryQuantityIsAMetric) {
  for (const std::string& name : cost_quantity_names()) {
    EXPECT_TRUE(CostMetric::parse(name)) << name;
  }
  EXPECT_THAT(costs("time"), ElementsAre(100, 10));
  EXPECT_THAT(costs("intensity"), ElementsAre(5, 0));
}

TEST(CostMetric, ComputesExpressions) {
  EXPECT_THAT(costs("time + 2 * bytes"), ElementsAre(500, 110));
  EXPECT_THAT(costs("(time + 2) * bytes"), ElementsAre(20400, 600));
  EXPECT_THAT(costs("bytes - -time / 10"), ElementsAre(210, 51));
  EXPECT_THAT(costs("8 - 4 - 2"), ElementsAre(2, 2)) << "from the left";
  EXPECT_THAT(costs("8 / 4 / 2"), ElementsAre(1, 1));
  EXPECT_THAT(costs("1e2*.5"), ElementsAre(50, 50));
}

TEST(CostMetric, ALayerWithoutFlopsCostsNothingByThem) {
  EXPECT_THAT(costs("bytes/flops"), ElementsAre(0.2, 0));
}

TEST(CostMetric, SaysWhereAnExpressionIsWrong) {
  refuses_metric("flps",
                 AllOf(HasSubstr("character 1"), HasSubstr("\"flps\""), HasSubstr("flops")));
  refuses_metric("bytes / 0", AllOf(HasSubstr("character 9"), HasSubstr("divides by 0")));
  refuses_metric("bytes / (2 - 2)", HasSubstr("divides by (2 - 2)"));
  refuses_metric("time +", HasSubstr("character 7"));
  refuses_metric("(time", HasSubstr("a ) is expected"));
  refuses_metric("time bytes", AllOf(HasSubstr("character 6"), HasSubstr("operator")));
  refuses_metric("", HasSubstr("character 1"));
  refuses_metric("time $ 2", HasSubstr("character 6"));
  refuses_metric(std::string(300, '('), HasSubstr("300 bytes"));
}

TEST(CostMetric, NamesWhatIsZeroInAllLayers) {
  const auto costs = CostMetric::parse("time / weights").value().costs_of(layers());
  ASSERT_FALSE(costs);
  EXPECT_THAT(costs.error().message, AllOf(HasSubstr("weights"), HasSubstr("zero")));
}

TEST(CostMetric, RefusesNegativeCosts) {
  const auto costs = CostMetric::parse("time - 50").value().costs_of(layers());
  ASSERT_FALSE(costs);
  EXPECT_THAT(costs.error().message, AllOf(HasSubstr("relu"), HasSubstr("-40")));
}

}  // namespace
}  // namespace pareto::tasks
