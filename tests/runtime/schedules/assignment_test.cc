// Operators dealt out to workers, against the best of all ways on small graphs.
#include "runtime/schedules/assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <set>

#include "runtime/schedules/clusters.h"
#include "tests/runtime/schedules/graphs.h"

namespace pareto::schedules {
namespace {

using test::add;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Tries each order of operators and each worker for every operator.
class BestOfAll {
 public:
  BestOfAll(const WeightedGraph& graph, std::size_t workers, double hand_off)
      : graph_(graph),
        hand_off_(hand_off),
        free_(workers),
        ends_(graph.nodes.size(), -1),
        worker_(graph.nodes.size()) {}

  double span() {
    go_on(0, 0);
    return best_;
  }

 private:
  void go_on(std::size_t placed, double span) {
    if (span >= best_) return;
    if (placed == graph_.nodes.size()) {
      best_ = span;
      return;
    }
    for (std::size_t op = 0; op < graph_.nodes.size(); ++op) {
      const auto& after = graph_.nodes[op].after;
      const auto is_made = [&](std::size_t before) { return ends_[before] >= 0; };
      if (ends_[op] >= 0 || !std::ranges::all_of(after, is_made)) continue;
      for (std::size_t worker = 0; worker < free_.size(); ++worker) {
        const double before = free_[worker];
        double start = before;
        for (const std::size_t one : after) {
          start = std::max(start, ends_[one] + (worker_[one] == worker ? 0 : hand_off_));
        }
        ends_[op] = free_[worker] = start + graph_.nodes[op].cost;
        worker_[op] = worker;
        go_on(placed + 1, std::max(span, ends_[op]));
        free_[worker] = before;
      }
      ends_[op] = -1;
    }
  }

  const WeightedGraph& graph_;
  double hand_off_;
  std::vector<double> free_;
  std::vector<double> ends_;
  std::vector<std::size_t> worker_;
  double best_ = std::numeric_limits<double>::infinity();
};

/// At most `most` operators with costs from 1 to 9.
WeightedGraph small_graph(std::mt19937_64& random, std::size_t most) {
  WeightedGraph graph;
  for (std::size_t i = 1 + random() % most; i > 0; --i) {
    std::vector<std::size_t> after;
    for (std::size_t k = 0; k < graph.nodes.size(); ++k) {
      if (random() % 3 == 0) after.push_back(k);
    }
    add(graph, static_cast<double>(1 + random() % 9), after);
  }
  return graph;
}

void expect_each_once(const Assignment& assignment, std::vector<std::size_t> operators) {
  std::vector<std::size_t> found;
  for (const auto& worker : assignment.workers) {
    found.insert(found.end(), worker.begin(), worker.end());
  }
  std::ranges::sort(found);
  std::ranges::sort(operators);
  EXPECT_EQ(found, operators);
}

/// Returns the timetable of one phase of an assignment.
Timetable timetable_of(const WeightedGraph& graph, const Assignment& assignment) {
  Timetable timetable;
  add_phase(
      graph, assignment,
      [](std::size_t worker, std::size_t piece) {
        return std::to_string(worker) + "/" + std::to_string(piece);
      },
      timetable);
  return timetable;
}

TEST(ListScheduler, IsNeverBetterThanTheBestAndMostlyAsGood) {
  std::mt19937_64 random(41);
  int best = 0;
  constexpr int kRounds = 60;
  for (int round = 0; round < kRounds; ++round) {
    const WeightedGraph graph = small_graph(random, 6);
    const double hand_off = round % 2 == 0 ? 0 : 2;
    ListScheduler scheduler(graph, 2, hand_off);
    const Assignment assignment = scheduler.run(scheduler.order());
    const double least = BestOfAll(graph, 2, hand_off).span();
    EXPECT_GE(assignment.span, least - 1e-9);
    EXPECT_LE(assignment.span, total_cost(graph) + (hand_off > 0 ? 4 * hand_off : 0) + 1e-9);
    best += assignment.span <= least + 1e-9 ? 1 : 0;
  }
  EXPECT_GT(best, kRounds * 3 / 4);
}

TEST(ListScheduler, ItsSpanIsThatOfTheTimetable) {
  std::mt19937_64 random(42);
  for (int round = 0; round < 200; ++round) {
    const WeightedGraph graph = test::random_graph(random);
    const auto hand_off = static_cast<double>(random() % 3) * 900;
    const std::size_t workers = 1 + random() % 5;
    ListScheduler scheduler(graph, workers, hand_off);
    const Assignment assignment = scheduler.run(scheduler.order());
    EXPECT_LE(assignment.workers.size(), workers);
    expect_each_once(assignment, scheduler.order());
    const Timetable timetable = timetable_of(graph, assignment);
    const auto checked = check(timetable, graph);
    ASSERT_TRUE(checked) << checked.error().message;
    EXPECT_NEAR(makespan(timetable, graph, hand_off), assignment.span, 1e-6);
  }
}

TEST(ListScheduler, ItsOrderIsTopologicalWithTheLongestWaysFirst) {
  std::mt19937_64 random(43);
  for (int round = 0; round < 50; ++round) {
    const WeightedGraph graph = test::random_graph(random);
    const ListScheduler scheduler(graph, 2, 100);
    const auto distances = distances_to_end(graph, 100);
    std::set<std::size_t> seen;
    double last = std::numeric_limits<double>::infinity();
    for (const std::size_t op : scheduler.order()) {
      for (const std::size_t before : graph.nodes[op].after) EXPECT_TRUE(seen.contains(before));
      EXPECT_LE(distances[op], last);
      last = distances[op];
      seen.insert(op);
    }
    EXPECT_EQ(seen.size(), graph.nodes.size());
  }
}

TEST(ListScheduler, APartStartsAtOnceAndRunsDoNotSeeEachOther) {
  const WeightedGraph graph = test::branches(2, 2, 10);
  ListScheduler scheduler(graph, 2, 100);
  const std::vector<std::size_t> end{5};
  EXPECT_EQ(scheduler.run(end).span, 10) << "what others made is there at once";
  const Assignment first = scheduler.run(scheduler.order());
  EXPECT_EQ(first.span, 60) << "handing over costs more than it gains";
  EXPECT_EQ(scheduler.run(scheduler.order()).workers, first.workers);
  EXPECT_THAT(scheduler.run({}).workers, ElementsAre(IsEmpty()));
  EXPECT_EQ(scheduler.run({}).span, 0);
}

TEST(ListScheduler, FillsGapsThatAreLongEnough) {
  // The chain 0, 1 hands over twice; operator 3 fits the gap of worker 0 exactly.
  WeightedGraph graph;
  add(graph, 10);
  add(graph, 10, {0});
  add(graph, 1, {0});
  add(graph, 10, {1, 2});
  ListScheduler scheduler(graph, 2, 0);
  EXPECT_EQ(scheduler.run(scheduler.order()).span, BestOfAll(graph, 2, 0).span());
}

TEST(AssignClusters, DealsOutEachOperatorWithinItsWorkers) {
  std::mt19937_64 random(44);
  for (int round = 0; round < 200; ++round) {
    const WeightedGraph graph = test::random_graph(random);
    const auto hand_off = static_cast<double>(random() % 3) * 900;
    const std::size_t workers = 1 + random() % 4;
    std::vector<std::size_t> some;
    for (std::size_t op = 0; op < graph.nodes.size(); ++op) {
      if (random() % 3 > 0) some.push_back(op);
    }
    const Assignment part = assign_clusters(graph, some, workers, hand_off);
    expect_each_once(part, some);
    EXPECT_LE(part.workers.size(), workers);
    std::vector<std::size_t> all(graph.nodes.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const Assignment whole = assign_clusters(graph, all, workers, hand_off);
    const Timetable timetable = timetable_of(graph, whole);
    ASSERT_TRUE(check(timetable, graph));
    EXPECT_NEAR(makespan(timetable, graph, hand_off), whole.span, 1e-6);
  }
  EXPECT_THAT(assign_clusters({}, {}, 3, 1).workers, ElementsAre(IsEmpty()));
}

TEST(AddPhase, CutsOnlyBetweenWorkersThatWait) {
  // Two chains that never meet are a unit each; every crossing cuts both workers.
  WeightedGraph graph;
  for (std::size_t i = 0; i < 6; ++i)
    add(graph, 1, i < 2 ? std::vector<std::size_t>{} : std::vector{i - 2});
  const Assignment apart{{{0, 2, 4}, {1, 3, 5}}};
  EXPECT_EQ(timetable_of(graph, apart).units.size(), 2U);
  graph.nodes[3].after = {1, 2};
  EXPECT_THAT(
      timetable_of(graph, apart).phases[0].workers,
      ElementsAre(ElementsAre(Turn{0, 0}, Turn{1, 0}), ElementsAre(Turn{2, 0}, Turn{3, 0})));
  // Operator 5 waits for 0 as well, which operator 3 has waited for in 2.
  graph.nodes[5].after = {0, 3};
  EXPECT_EQ(timetable_of(graph, apart).units.size(), 4U);
  graph.nodes[5].after = {3, 4};
  EXPECT_EQ(timetable_of(graph, apart).units.size(), 5U);
}

TEST(AddPhase, UnitsHaveTheirOperatorsAscending) {
  WeightedGraph graph;
  for (int i = 0; i < 3; ++i) add(graph, 1);
  const Timetable timetable = timetable_of(graph, {{{2, 0}, {1}}});
  EXPECT_THAT(timetable.units[0].operators, ElementsAre(0, 2));
  EXPECT_EQ(timetable.units[0].name, "0/0");
  EXPECT_EQ(timetable.units[1].name, "1/0");
}

TEST(AddSharedPhase, OfNothingHasNoUnit) {
  Timetable timetable;
  add_shared_phase({}, {}, "all", timetable);
  EXPECT_THAT(timetable.units, IsEmpty());
  ASSERT_EQ(timetable.phases.size(), 1U);
  EXPECT_THAT(timetable.phases[0].workers, ElementsAre(IsEmpty()));
  EXPECT_TRUE(timetable.phases[0].all_threads);
}

TEST(NameUnit, SaysTheFirstAndTheLastModule) {
  WeightedGraph graph;
  for (int i = 0; i < 4; ++i) add(graph, 1);
  graph.nodes[1].scope = "a";
  graph.nodes[2].scope = "b";
  const auto name = [&](const std::vector<std::size_t>& operators) {
    return name_unit(graph, operators, "none");
  };
  EXPECT_EQ(name({0, 1, 2, 3}), "a … b");
  EXPECT_EQ(name({0, 1, 3}), "a");
  EXPECT_EQ(name({0, 3}), "none");
  EXPECT_EQ(name({}), "none");
}

TEST(ScheduleRequest, ASentenceSaysWhatIsWrong) {
  const auto message = [](const ScheduleRequest& request) {
    return check(request).error().message;
  };
  EXPECT_THAT(message({.workers = 0}), HasSubstr("for 0 workers; 1 to 1024 are possible"));
  EXPECT_THAT(message({.batch = 0}), HasSubstr("a batch of 0"));
  EXPECT_THAT(message({.hand_off = -3}), HasSubstr("costs -3"));
  EXPECT_THAT(message({.hand_off = std::numeric_limits<double>::infinity()}), HasSubstr("inf"));
  EXPECT_TRUE(check(ScheduleRequest{.hand_off = 0}));
}

}  // namespace
}  // namespace pareto::schedules
