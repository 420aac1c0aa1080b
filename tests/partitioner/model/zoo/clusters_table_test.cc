// The table of Das & Rauchwerger's clusters (IPDPS 2024) for five models, at the granularity of
// calls of modules and functions: exactly theirs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/model/graph/call_graph.h"
#include "runtime/schedules/clusters.h"
#include "tests/partitioner/model/zoo/architecture.h"

namespace pareto::model::zoo {
namespace {

using test::Architecture;

struct Row {
  const char* model;
  std::size_t nodes;
  std::size_t clusters;
  std::size_t merged;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.model; }

class ClustersTable : public testing::TestWithParam<Row> {};

TEST_P(ClustersTable, IsThePapers) {
  const Architecture net(GetParam().model, 96, 96);
  schedules::WeightedGraph calls = call_graph(net.graph());
  ASSERT_TRUE(schedules::check(calls));
  ASSERT_EQ(calls.nodes.size(), GetParam().nodes);
  for (const bool unit_costs : {false, true}) {
    for (const double edge : {0.0, 1.0}) {
      SCOPED_TRACE(testing::Message()
                   << (unit_costs ? "unit" : "static") << " costs, edges of " << edge);
      const auto distances = schedules::distances_to_end(calls, edge);
      const auto linear = schedules::linear_clusters(calls, distances);
      EXPECT_EQ(linear.size(), GetParam().clusters);
      EXPECT_EQ(schedules::merge_clusters(distances, linear).size(), GetParam().merged);
    }
    for (auto& node : calls.nodes) node.cost = 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Paper, ClustersTable,
                         testing::Values(Row{"squeezenet1_0", 66, 9, 2},
                                         Row{"googlenet", 197, 28, 4}, Row{"resnet50", 175, 5, 2},
                                         Row{"densenet121", 431, 1, 1},
                                         Row{"inceptionv3", 314, 36, 6}),
                         [](const auto& row) { return std::string(row.param.model); });

}  // namespace
}  // namespace pareto::model::zoo
