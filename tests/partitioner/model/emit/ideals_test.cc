// Shards between sets of operators: a chain of them runs the model's operators in another order,
// and has to give the model's bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "partitioner/model/emit/emit.h"
#include "partitioner/model/graph/cuts.h"
#include "partitioner/model/zoo/model_builder.h"
#include "partitioner/planning/search/graph_ideals.h"
#include "runtime/shard_runner.h"
#include "tests/partitioner/scripted.h"

namespace pareto::model {
namespace {

using test::open;
using test::scripted;
using testing::HasSubstr;

Expected<std::vector<Value>> run_stage(const Model& model, const plan::ShardOperators& operators,
                                       std::vector<Value> inputs) {
  PARETO_ASSIGN(const plan::Shard shard, emit_shard(model, operators));
  PARETO_ASSIGN(
      const auto runner,
      runtime::ShardRunner::load(shard, [&](const Digest& digest) { return model.weight(digest); },
                                 {.engine = "plain"}));
  return runner->run(std::move(inputs));
}

/// Returns the values by index into Graph::values, in another order.
std::vector<Value> in_order(const std::vector<std::int64_t>& wanted,
                            const std::vector<std::int64_t>& present,
                            const std::vector<Value>& values) {
  std::vector<Value> result;
  for (const std::int64_t index : wanted) {
    const auto at = std::ranges::find(present, index) - present.begin();
    result.push_back(values.at(static_cast<std::size_t>(at)));
  }
  return result;
}

/// Positions of ideals from the first to the last, as one pipeline.
void expect_equal(const Model& model, const search::GraphIdeals& ideals,
                  const std::vector<int>& cuts, std::int64_t batch) {
  const auto arguments = model.example_inputs(batch, 3).value();
  const auto whole = model.run_whole(arguments);
  ASSERT_TRUE(whole) << whole.error().message;
  const Graph& graph = model.graph();
  auto values = in_order(live_values(graph, 0), graph.inputs, arguments);
  std::string order;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const plan::ShardOperators stage = stage_operators(ideals, cuts[i], cuts[i + 1]);
    order += to_string(stage.own) + " | ";
    auto next = run_stage(model, stage, std::move(values));
    ASSERT_TRUE(next) << order << next.error().message;
    values = *std::move(next);
  }
  const auto outputs = in_order(
      graph.outputs, live_values(graph, static_cast<std::int64_t>(graph.operators.size())), values);
  EXPECT_TRUE(bit_equal(Value(List{*whole}), Value(List{outputs}))) << order << "batch " << batch;
}

/// Every ideal as the one cut between two stages.
void expect_all_equal(const Model& model, std::size_t at_least_sets) {
  const auto ideals = search::find_graph_ideals(model.graph(), 1);
  ASSERT_TRUE(ideals) << ideals.error().message;
  const int last = static_cast<int>(ideals->operators.size()) - 1;
  std::size_t sets = 0;
  for (int cut = 1; cut < last; ++cut) {
    sets += ideals->operators[static_cast<std::size_t>(cut)].size() > 1 ? 1 : 0;
    for (const std::int64_t batch : {1, 3}) expect_equal(model, *ideals, {0, cut, last}, batch);
  }
  EXPECT_GE(sets, at_least_sets) << "that are no prefixes of the model's order";
}

/// Chains of up to `stages`, whose cuts are sets that are no prefixes where there are any.
void expect_chains_equal(const Model& model, int chains, int stages) {
  const auto ideals = search::find_graph_ideals(model.graph(), 1);
  ASSERT_TRUE(ideals) << ideals.error().message;
  const int last = static_cast<int>(ideals->operators.size()) - 1;
  std::mt19937_64 random(7);
  for (int chain = 0; chain < chains; ++chain) {
    std::vector<int> all;
    for (int i = 1; i < last; ++i) {
      if (ideals->operators[static_cast<std::size_t>(i)].size() > 1) all.push_back(i);
    }
    ASSERT_GT(all.size(), 10U);
    std::vector<int> cuts{0};
    while (static_cast<int>(cuts.size()) < stages) {
      std::vector<int> fitting;
      std::ranges::set_intersection(all, ideals->ideals.ends[static_cast<std::size_t>(cuts.back())],
                                    std::back_inserter(fitting));
      if (fitting.empty()) break;
      // From the nearer half, so that there is something left for the stages that follow.
      cuts.push_back(fitting[random() % (fitting.size() / 2 + 1)]);
    }
    cuts.push_back(last);
    expect_equal(model, *ideals, cuts, 1 + chain % 2);
  }
}

TEST(EmitShardOfASet, TakesBranchesFromWhereTheyStand) {
  const auto model = test::open(test::scripted("Branches", R"(
def forward(self, x):
    a = torch.relu(x)
    b = torch.sigmoid(a)
    c = torch.tanh(a)
    d = b + 1
    e = c * 2
    return d + e
)"),
                                "4");
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ(model->graph().operators.size(), 6U);
  // relu and the branch of tanh; then that of sigmoid.
  const auto shard =
      emit_shard(*model, plan::ShardOperators{{{0, 1}, {2, 3}, {4, 5}}, {{1, 2}, {3, 4}}});
  ASSERT_TRUE(shard) << shard.error().message;
  EXPECT_EQ(shard->begin, 3);
  EXPECT_EQ(shard->end, 5);
  EXPECT_EQ(shard->scopes.size(), 2U);
  EXPECT_EQ(shard->inputs.size(), 2U) << "what sigmoid reads, and what only passes";
  EXPECT_EQ(shard->outputs.size(), 2U);
  const auto back = plan::shard_from_manifest(plan::manifest_json(*shard), shard->archive);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->digest(), shard->digest());
  // Position by position it is the shard that it always was.
  EXPECT_EQ(emit_shard(*model, plan::ShardOperators{{{0, 2}}, {{2, 5}}})->digest(),
            emit_shard(*model, 2, 5)->digest());
  const auto refused = [&](const plan::ShardOperators& operators) {
    const auto emitted = emit_shard(*model, operators);
    return emitted ? std::string("accepted") : emitted.error().message;
  };
  EXPECT_THAT(refused({{{0, 1}}, {{3, 4}}}), HasSubstr("runs before operator 1"));
  EXPECT_THAT(refused({{{0, 1}, {3, 4}}, {{1, 2}}}), HasSubstr("no cut at op:1:3-4"));
  EXPECT_THAT(refused({{{0, 3}}, {{2, 4}}}), HasSubstr("[2, 4) after [0, 3)"));
  EXPECT_THAT(refused({{{0, 3}}, {}}), HasSubstr("after [0, 3)"));
  EXPECT_THAT(refused({{{0, 3}}, {{3, 9}}}), HasSubstr("of a model that has 6"));
  expect_all_equal(*model, 2);
}

TEST(CutAtEveryIdeal, ListsTuplesDictsAndNumbers) {
  const auto model = test::open(test::scripted("Tree", R"(
def forward(self, x, y):
    sizes = [x.size(0), x.size(1)]
    parts = torch.split(x, 2, 1)
    table = {"first": torch.relu(parts[0]), "second": parts[1]}
    empty: List[Tensor] = []
    for part in parts:
        empty.append(torch.sigmoid(part))
    joined = torch.cat(empty, 1)
    return {"out": joined.reshape([sizes[0], sizes[1]]) + 1, "pair": y.sum(), "table": table["first"]}
)"),
                                "4;2");
  ASSERT_TRUE(model) << model.error().message;
  expect_all_equal(*model, 10);
}

TEST(CutAtEveryIdeal, WritesInPlace) {
  const auto model = test::open(test::scripted("InPlace", R"(
def forward(self, x):
    base = torch.relu(x)
    first = base.sum()
    view = base[:, 0:2]
    other = torch.sigmoid(x)
    third = torch.tanh(x)
    view.fill_(3.0)
    other[:, 1:3].copy_(base[:, 0:2])
    other.add_(1.0)
    third.mul_(2.0)
    return base + other, view, third, first
)"),
                                "4");
  ASSERT_TRUE(model) << model.error().message;
  expect_all_equal(*model, 10);
}

TEST(CutAtEveryIdeal, TransposedViewsKeepTheirStrides) {
  const auto model = test::open(test::transposed_views(), "31x31x7");
  ASSERT_TRUE(model) << model.error().message;
  expect_all_equal(*model, 4);
}

TEST(ChainsOfIdeals, OfGooglenet) {
  zoo::ModelOptions options;
  options.num_classes = 10;
  options.input = {{{3, 64, 64}, DType::kFloat32}};
  const auto model = zoo::open_model("googlenet", options);
  ASSERT_TRUE(model) << model.error().message;
  expect_chains_equal(*model, 12, 4);
}

TEST(ChainsOfIdeals, OfInceptionv3) {
  zoo::ModelOptions options;
  options.num_classes = 10;
  options.input = {{{3, 96, 96}, DType::kFloat32}};
  const auto model = zoo::open_model("inceptionv3", options);
  ASSERT_TRUE(model) << model.error().message;
  expect_chains_equal(*model, 8, 5);
}

}  // namespace
}  // namespace pareto::model
