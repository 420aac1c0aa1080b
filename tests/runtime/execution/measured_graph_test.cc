#include "runtime/execution/measured_graph.h"

#include <gtest/gtest.h>

#include "runtime/torch/threads.h"
#include "tests/runtime/engines/written_module.h"

namespace pareto::runtime {
namespace {

using Arguments = std::vector<c10::IValue>;

TEST(MeasuredGraph, SaysWhyABatchCannotBeCut) {
  const c10::InferenceMode inference;
  ThreadPool pool(2, let_work_alone);
  const auto why = [&](const std::string& code, const Arguments& whole, const Arguments& part) {
    MeasuredGraph graph(builtin_engines()[0], test::written_module(code), 2, pool);
    return graph.find_batch_rule(4, whole, part);
  };
  const Arguments four{at::randn({4, 3})};
  const Arguments two{at::randn({2, 3})};
  EXPECT_EQ(why("def run(self, x):\n    return (x + 1,)\n", four, two), "");
  EXPECT_EQ(why("def run(self, x):\n    return (x.transpose(0, 1) + 1,)\n", four, two),
            "a tensor in it does not hold one row a sample");
  EXPECT_EQ(why("def run(self, x):\n    return (x + 1,)\n", four, four),
            "no argument depends on the batch");
  EXPECT_EQ(why("def run(self, x, n: int):\n    return (x + n,)\n", {four[0], std::int64_t{4}},
                {two[0], std::int64_t{2}}),
            "an argument that is no tensor depends on the batch");
}

/// Returns why a batch of 4 cannot be cut, by arguments of 4 and 2 samples.
std::string why_not_cut(const std::string& code, const Arguments& whole, const Arguments& part) {
  const c10::InferenceMode inference;
  ThreadPool pool(2, let_work_alone);
  MeasuredGraph graph(builtin_engines()[0], test::written_module(code), 2, pool);
  return graph.find_batch_rule(4, whole, part);
}

const std::string kNoRow = "a tensor in it does not hold one row a sample";

TEST(MeasuredGraph, TheBatchIsTheFirstDimensionOfWhatChanges) {
  const Arguments four{at::randn({4, 6})};
  const Arguments two{at::randn({2, 6})};
  const auto why = [&](const std::string& result) {
    return why_not_cut("def run(self, x):\n    return (" + result + ",)\n", four, two);
  };
  EXPECT_EQ(why("x.reshape([-1, 3, 2]) + 1"), "");
  EXPECT_EQ(why("torch.ones([4]) + 1"), "") << "a tensor that does not change is everybody's";
  EXPECT_EQ(why("x.reshape([-1]) + 1"), kNoRow) << "24 numbers are no 4 rows";
  EXPECT_EQ(why("x.unsqueeze(0) + 1"), kNoRow);
  EXPECT_EQ(why("torch.cat([x, x]) + 1"), kNoRow) << "two rows a sample";
  EXPECT_EQ(why("torch.mm(x, x.t()) + 1"), kNoRow) << "samples meet in a row";
  EXPECT_EQ(why("x[:2] + 1"), "") << "of sizes alone this is no row, and no part of the batch";
}

TEST(MeasuredGraph, ArgumentsOfTheBatchHaveItFirst) {
  const std::string code = "def run(self, x, y):\n    return (x + 1, y + 1)\n";
  const at::Tensor fixed = at::randn({3});
  EXPECT_EQ(why_not_cut(code, {at::randn({4, 2}), fixed}, {at::randn({2, 2}), fixed}), "");
  EXPECT_EQ(why_not_cut(code, {fixed, at::randn({4, 2})}, {fixed, at::randn({2, 2})}), "");
  EXPECT_EQ(why_not_cut(code, {at::randn({2, 4}), fixed}, {at::randn({2, 2}), fixed}), kNoRow);
  EXPECT_EQ(why_not_cut(code, {at::randn({4}), at::randn({8})}, {at::randn({2}), at::randn({4})}),
            kNoRow);
  EXPECT_EQ(why_not_cut(code, {at::randn({4}), at::randn({4})}, {at::randn({2}), at::randn({1})}),
            kNoRow)
      << "two arguments cut in two ways";
  EXPECT_EQ(why_not_cut(code, {fixed, fixed}, {fixed, fixed}), "no argument depends on the batch");
}

TEST(MeasuredGraph, OneThreadHasNoCostWithAll) {
  const c10::InferenceMode inference;
  ThreadPool pool(1, let_work_alone);
  test::Case one = test::linears();
  MeasuredGraph graph(builtin_engines()[0], one.loaded, 1, pool);
  const std::size_t operators = graph.graph().nodes.size();
  graph.measure(one.inputs);
  ASSERT_EQ(graph.graph().nodes.size(), operators);
  for (const schedules::WeightedNode& node : graph.graph().nodes) {
    EXPECT_GT(node.cost, 0) << node.kind;
    EXPECT_EQ(node.cost_all, 0) << node.kind;
  }
  EXPECT_TRUE(schedules::check(graph.graph()));
}

TEST(MeasuredGraph, AFailureWhileItMeasuresLeavesItUsable) {
  const c10::InferenceMode inference;
  ThreadPool pool(2, let_work_alone);
  MeasuredGraph graph(builtin_engines()[0],
                      test::written_module("def run(self, x):\n    return (torch.mm(x, x),)\n"), 2,
                      pool);
  EXPECT_ANY_THROW(graph.measure({at::randn({2, 3})}));
  graph.measure({at::randn({3, 3})});
  EXPECT_GT(graph.graph().nodes[0].cost, 0);
  EXPECT_EQ(graph.graph().nodes[0].output_bytes, 36U);
}

TEST(MeasuredGraph, MoreWorkersThanThreadsHaveAPoolOfTheirOwn) {
  const c10::InferenceMode inference;
  ThreadPool pool(1, let_work_alone);
  const auto loaded =
      test::written_module("def run(self, x):\n    return (x + 1, x * 2, torch.relu(x), x - 3)\n");
  MeasuredGraph graph(builtin_engines()[0], loaded, 1, pool);
  schedules::Timetable timetable;
  timetable.phases.emplace_back();
  for (std::size_t op = 0; op < graph.graph().nodes.size(); ++op) {
    timetable.units.push_back({{op}});
    timetable.phases[0].workers.push_back({{op, 0}});
  }
  ASSERT_EQ(timetable.workers(), 4U);
  const auto engine = graph.build(timetable);
  const at::Tensor x = at::randn({5});
  const Arguments results = engine->run({x}, nullptr);
  EXPECT_TRUE(results[0].toTensor().equal(x + 1));
  EXPECT_TRUE(results[3].toTensor().equal(x - 3));
  EXPECT_EQ(engine->worker_times().size(), 4U);
}

TEST(MeasuredGraph, PartsOfEveryEngineGiveTheWholeBatch) {
  const c10::InferenceMode inference;
  ThreadPool pool(2, let_work_alone);
  for (const EngineEntry& entry : builtin_engines()) {
    const auto loaded = test::written_module(
        "def run(self, x):\n    y = torch.relu(torch.conv2d(x, self.w))\n    return (y + 1,)\n",
        {{"w", at::randn({16, 4, 1, 1})}});
    MeasuredGraph graph(entry, loaded, 2, pool);
    const at::Tensor x = at::randn({4, 4, 6, 6});
    ASSERT_EQ(graph.find_batch_rule(4, {x}, {x.narrow(0, 0, 2)}), "") << entry.name;
    schedules::Timetable timetable;
    timetable.parts = 2;
    timetable.units.emplace_back();
    for (std::size_t op = 0; op < graph.graph().nodes.size(); ++op) {
      timetable.units[0].operators.push_back(op);
    }
    timetable.phases.push_back({{{{0, 0}}, {{0, 1}}}});
    const Arguments results = graph.build(timetable)->run({x}, nullptr);
    const at::Tensor expected = at::relu(at::conv2d(x, loaded.module.attr("w").toTensor())) + 1;
    EXPECT_TRUE(results[0].toTensor().allclose(expected, 1e-4, 1e-4)) << entry.name;
  }
}

}  // namespace
}  // namespace pareto::runtime
