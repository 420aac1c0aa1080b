// How many sets of operators may run before a cut of real models: what planning over ideals has to
// look at.
#include <gtest/gtest.h>

#include "partitioner/model/zoo/model_builder.h"
#include "partitioner/planning/search/graph_ideals.h"

namespace pareto::model::zoo {
namespace {

std::size_t count(const std::string& name, std::int64_t side) {
  ModelOptions options;
  options.num_classes = 10;
  options.input = {{{3, side, side}, DType::kFloat32}};
  const auto model = open_model(name, options);
  EXPECT_TRUE(model) << model.error().message;
  return model ? search::find_graph_ideals(model->graph(), 1)->operators.size() : 0;
}

// With a convolution, its batch norm and its activation as one operator, and pooling, dropout and
// flattening at the end as another. Where the last two count by themselves there are two more of
// each: 67 and 1,354. (Pictures so small that pooling has nothing left to do have one less.)
TEST(IdealCount, OfAChainAreItsPositions) { EXPECT_EQ(count("mobilenetv2", 64), 65U); }
TEST(IdealCount, OfBranchesTheirCombinations) { EXPECT_EQ(count("inceptionv3", 128), 1352U); }

}  // namespace
}  // namespace pareto::model::zoo
