#include "runtime/execution/scheduled_engine.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "runtime/execution/measured_graph.h"
#include "runtime/torch/threads.h"
#include "tests/runtime/engines/written_module.h"

namespace pareto::runtime {
namespace {

using Arguments = std::vector<c10::IValue>;
using schedules::Timetable;

/// Returns whether two values are equal, tensors bit for bit.
bool equal(const c10::IValue& a, const c10::IValue& b) {
  if (a.isTensor() && b.isTensor()) {
    const at::Tensor left = a.toTensor();
    const at::Tensor right = b.toTensor();
    return left.scalar_type() == right.scalar_type() && left.equal(right);
  }
  if (a.isList() && b.isList()) {
    const auto left = a.toListRef().vec();
    const auto right = b.toListRef().vec();
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), equal);
  }
  return a == b;
}

void expect_equal(const Arguments& expected, const Arguments& actual, const std::string& what) {
  ASSERT_EQ(expected.size(), actual.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(equal(expected[i], actual[i])) << what << ", result " << i;
  }
}

/// Returns copies: a graph may write to its arguments.
Arguments copies(const Arguments& arguments) {
  Arguments copied;
  for (const c10::IValue& value : arguments) {
    copied.push_back(value.isTensor() ? c10::IValue(value.toTensor().clone()) : value);
  }
  return copied;
}

/// Cuts operators into units of neighbours, and gives each to any worker.
Timetable random_timetable(std::size_t operators, std::size_t workers, std::mt19937& random) {
  Timetable timetable;
  std::bernoulli_distribution meets(0.1);
  std::bernoulli_distribution ends(0.6);
  std::uniform_int_distribution<std::size_t> any(0, workers - 1);
  const auto phase = [&] { timetable.phases.emplace_back().workers.resize(workers); };
  phase();
  for (std::size_t i = 0; i < operators; ++i) {
    if (i == 0 || ends(random)) {
      if (meets(random)) phase();
      timetable.phases.back().workers[any(random)].push_back({timetable.units.size(), 0});
      timetable.units.emplace_back();
    }
    timetable.units.back().operators.push_back(i);
  }
  return timetable;
}

class EveryEngine : public testing::TestWithParam<EngineEntry> {};

TEST_P(EveryEngine, GivesTheSameBitsByAnyTimetable) {
  const c10::InferenceMode inference;
  std::mt19937 random(5);
  ThreadPool pool(4, let_work_alone);
  for (test::Case& one : test::all_cases()) {
    std::unique_ptr<Engine> whole;
    try {
      whole = GetParam().build(one.loaded);
    } catch (const std::exception&) {
      continue;  // nothing in it is for this engine
    }
    MeasuredGraph graph(GetParam(), one.loaded, 4, pool);
    // The bits of a layer go by the number of threads, also of BLAS, which a graph sets to its own.
    set_thread_count(1);
    const Arguments expected = whole->run(copies(one.inputs), nullptr);
    for (int round = 0; round < 20; ++round) {
      const std::size_t workers = 1 + random() % 4;
      const Timetable timetable = random_timetable(graph.graph().nodes.size(), workers, random);
      ASSERT_TRUE(schedules::check(timetable, graph.graph()));
      const auto engine = graph.build(timetable);
      for (int run = 0; run < 2; ++run) {
        expect_equal(expected, engine->run(copies(one.inputs), nullptr),
                     std::string(one.name) + ", round " + std::to_string(round));
      }
    }
  }
}

TEST_P(EveryEngine, MeasuresEachOperator) {
  const c10::InferenceMode inference;
  ThreadPool pool(2, let_work_alone);
  test::Case one = test::convolutions();
  MeasuredGraph graph(GetParam(), one.loaded, 2, pool);
  graph.measure(one.inputs);
  std::uint64_t bytes = 0;
  for (const schedules::WeightedNode& node : graph.graph().nodes) {
    EXPECT_GT(node.cost, 0) << node.kind;
    EXPECT_LT(node.cost, 1e9) << node.kind;
    EXPECT_GT(node.cost_all, 0) << node.kind;
    bytes += node.output_bytes;
  }
  EXPECT_GT(bytes, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, EveryEngine, testing::ValuesIn(builtin_engines()),
                         [](const auto& each) { return each.param.name; });

TEST(ScheduledEngine, CutsABatchAndPutsItTogether) {
  const c10::InferenceMode inference;
  ThreadPool pool(3, let_work_alone);
  const EngineEntry& plain = builtin_engines()[0];
  const runtime::LoadedModule loaded = test::written_module(R"(
def run(self, x, y):
    a = torch.relu(x * self.w)
    b = torch.cat([a, y + 1], 1)
    return (b * 2, a, y)
)",
                                                            {{"w", at::randn({5})}});
  MeasuredGraph graph(plain, loaded, 3, pool);
  const Arguments whole{at::randn({7, 5}), at::randn({7, 2})};
  const Arguments part{at::randn({3, 5}), at::randn({3, 2})};
  ASSERT_EQ(graph.find_batch_rule(7, whole, part), "");
  const std::size_t operators = graph.graph().nodes.size();
  const Arguments expected = plain.build(loaded)->run(whole, nullptr);
  for (std::size_t parts = 1; parts <= 3; ++parts) {
    Timetable timetable;
    timetable.parts = parts;
    timetable.units.emplace_back();
    for (std::size_t i = 0; i < operators; ++i) timetable.units[0].operators.push_back(i);
    timetable.phases.emplace_back();
    for (std::size_t i = 0; i < parts; ++i) timetable.phases[0].workers.push_back({{0, i}});
    expect_equal(expected, graph.build(timetable)->run(whole, nullptr), "parts");
    // The last operator runs once, on the whole batch.
    timetable.units[0].operators.pop_back();
    timetable.units.push_back({{operators - 1}});
    timetable.units[1].whole = true;
    timetable.phases.push_back({{{{1, 0}}}});
    expect_equal(expected, graph.build(timetable)->run(whole, nullptr), "a whole unit last");
    // Another batch runs as it comes.
    const Arguments other{at::randn({4, 5}), at::randn({4, 2})};
    expect_equal(plain.build(loaded)->run(other, nullptr),
                 graph.build(timetable)->run(other, nullptr), "another batch");
  }
}

TEST(ScheduledEngine, PartsMakeTheirRowsOfTheResult) {
  const c10::InferenceMode inference;
  ThreadPool pool(2, let_work_alone);
  const EngineEntry& plain = builtin_engines()[0];
  const runtime::LoadedModule loaded = test::written_module(R"(
def run(self, x):
    a = x * 2
    b = torch.relu(a + 1)
    c = torch.tanh(b)
    return (c + b, b, c.sum(1))
)");
  MeasuredGraph graph(plain, loaded, 2, pool);
  ASSERT_EQ(graph.find_batch_rule(8, {at::randn({8, 32})}, {at::randn({4, 32})}), "");
  Timetable timetable;
  timetable.parts = 2;
  timetable.units.emplace_back();
  for (std::size_t i = 0; i < graph.graph().nodes.size(); ++i) {
    timetable.units[0].operators.push_back(i);
  }
  timetable.phases.push_back({{{{0, 0}}, {{0, 1}}}});
  const auto engine = graph.build(timetable);
  std::vector<std::pair<Arguments, Arguments>> kept;
  for (int run = 0; run < 6; ++run) {
    const Arguments inputs{at::randn({8, 32})};
    ScheduledEngine::Record record;
    engine->record(&record);
    kept.emplace_back(plain.build(loaded)->run(inputs, nullptr), engine->run(inputs, nullptr));
    EXPECT_EQ(record.joined, 3u);
    // Rows of the last value are 4 bytes: no piece of memory of its own begins there.
    EXPECT_EQ(record.copied, run < 2 ? 3u : 1u) << "run " << run;
  }
  // No run wrote to what an earlier one gave.
  for (const auto& [expected, actual] : kept) expect_equal(expected, actual, "all runs");
}

TEST(ScheduledEngine, OperatorsThatShareAllThreadsCountForEachWorker) {
  const c10::InferenceMode inference;
  ThreadPool pool(2, let_work_alone);
  test::Case one = test::convolutions();
  MeasuredGraph graph(builtin_engines()[0], one.loaded, 2, pool);
  const std::size_t last = graph.graph().nodes.size() - 1;
  Timetable timetable;
  timetable.units.resize(2);
  for (std::size_t i = 0; i < last; ++i) timetable.units[0].operators.push_back(i);
  timetable.units[1].operators.push_back(last);
  timetable.phases.push_back({.workers = {{{0, 0}}}, .all_threads = true});
  timetable.phases.push_back({.workers = {{}, {{1, 0}}}});
  ASSERT_TRUE(schedules::check(timetable, graph.graph()));
  const auto engine = graph.build(timetable);
  ScheduledEngine::Record record;
  engine->record(&record);
  engine->run(copies(one.inputs), nullptr);
  ASSERT_EQ(record.turns.size(), 2U);
  const Nanoseconds shared = record.turns[0].end - record.turns[0].begin;
  const Nanoseconds own = record.turns[1].end - record.turns[1].begin;
  EXPECT_EQ(engine->worker_times(), (std::vector<Nanoseconds>{shared, shared + own}));
}

TEST(ScheduledEngine, AFailureIsThrownAndTheNextRequestRuns) {
  const c10::InferenceMode inference;
  ThreadPool pool(2, let_work_alone);
  const runtime::LoadedModule loaded = test::written_module(R"(
def run(self, x, y):
    a = torch.relu(x)
    b = torch.mm(y, y)
    return (torch.mm(a, b), a)
)");
  MeasuredGraph graph(builtin_engines()[0], loaded, 2, pool);
  Timetable timetable;
  for (std::size_t i = 0; i < graph.graph().nodes.size(); ++i) timetable.units.push_back({{i}});
  ASSERT_EQ(timetable.units.size(), 3u);
  timetable.phases.push_back({{{{0, 0}, {2, 0}}, {{1, 0}}}});
  ASSERT_TRUE(schedules::check(timetable, graph.graph()));
  const auto engine = graph.build(timetable);
  for (int round = 0; round < 20; ++round) {
    EXPECT_ANY_THROW(engine->run({at::randn({2, 2}), at::randn({2, 3})}, nullptr));
    const Arguments right{at::randn({2, 2}), at::randn({2, 2})};
    expect_equal(builtin_engines()[0].build(loaded)->run(right, nullptr),
                 engine->run(right, nullptr), "after a failure");
  }
}

TEST(ScheduledEngine, WritesAreOrdered) {
  const c10::InferenceMode inference;
  ThreadPool pool(3, let_work_alone);
  std::mt19937 random(6);
  const runtime::LoadedModule loaded = test::written_module(R"(
def run(self, x):
    a = x + 1
    b = a[0]
    c = a * 2
    b.add_(10)
    d = a * 3
    l = [c, d]
    l.append(b)
    e = torch.cat([c, d])
    c.mul_(0.5)
    return (e, c, l, d)
)");
  MeasuredGraph graph(builtin_engines()[0], loaded, 3, pool);
  const Arguments inputs{at::randn({64, 64})};
  const Arguments expected = builtin_engines()[0].build(loaded)->run(inputs, nullptr);
  for (int round = 0; round < 100; ++round) {
    const Timetable timetable = random_timetable(graph.graph().nodes.size(), 3, random);
    ASSERT_TRUE(schedules::check(timetable, graph.graph()));
    expect_equal(expected, graph.build(timetable)->run(inputs, nullptr), "writes");
  }
}

}  // namespace
}  // namespace pareto::runtime
