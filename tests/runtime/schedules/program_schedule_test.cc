#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "core/base/file.h"
#include "runtime/schedules/program.h"
#include "runtime/schedules/schedule.h"

namespace pareto::schedules {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Turns = std::vector<Turn>;

/// A network of one block: stem, two branches of two convolutions, their outputs joined, and a
/// classifier.
///
///   0 stem conv ─ 1 stem relu ┬─ 2 a.0 conv ─ 3 a.1 conv ───────────┬─ 7 cat ─ 8 linear
///                             └─ 4 b.0 conv ─ 5 b.1 pool ─ 6 b.2 conv ┘
WeightedGraph block() {
  const auto node = [](const char* kind, const char* scope, double cost,
                       std::vector<std::size_t> after) {
    return WeightedNode{.kind = kind,
                        .scope = scope,
                        .cost = cost,
                        .after = std::move(after),
                        .output_bytes = 1000};
  };
  return {{node("aten::conv2d", "stem.conv", 10, {}), node("aten::relu", "stem.relu", 2, {0}),
           node("aten::conv2d", "block.a.0", 20, {1}), node("aten::conv2d", "block.a.1", 20, {2}),
           node("aten::conv2d", "block.b.0", 10, {1}),
           node("aten::max_pool2d", "block.b.1", 10, {4}),
           node("aten::conv2d", "block.b.2", 10, {5}), node("aten::cat", "block", 4, {3, 6}),
           node("aten::linear", "head", 6, {7})}};
}

ScheduleRequest request_of(const std::string& yaml, std::int64_t batch = 1) {
  const auto program = program_from_yaml(yaml, "p.yaml");
  EXPECT_TRUE(program) << program.error().message;
  return {.graph = block(),
          .workers = 2,
          .batch = batch,
          .may_split = true,
          .hand_off = 1,
          .program = program ? to_json(*program) : ""};
}

Timetable make(const ScheduleRequest& request) {
  const auto timetable = make_program(request);
  EXPECT_TRUE(timetable) << timetable.error().message;
  if (!timetable) return {};
  EXPECT_TRUE(check(*timetable, request.graph));
  return *timetable;
}

Timetable make(const std::string& yaml, std::int64_t batch = 1) {
  return make(request_of(yaml, batch));
}

void expect_refused(const ScheduleRequest& request, const testing::Matcher<std::string>& sentence) {
  const auto timetable = make_program(request);
  ASSERT_FALSE(timetable);
  EXPECT_EQ(timetable.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(timetable.error().message, sentence);
}

std::vector<std::vector<std::size_t>> operators_of(const Timetable& timetable) {
  std::vector<std::vector<std::size_t>> list;
  for (const Unit& unit : timetable.units) list.push_back(unit.operators);
  return list;
}

std::vector<std::string> names_of(const Timetable& timetable) {
  std::vector<std::string> list;
  for (const Unit& unit : timetable.units) list.push_back(unit.name);
  return list;
}

constexpr const char* kBranches =
    "units: [{modules: [block.*], join: true, tags: [compute]}]\n"
    "workers: [{name: one, takes: [compute, other]}, {name: two, takes: [compute]}]\n";

TEST(ProgramSchedule, WithoutRulesAllIsOneUnitThatHasAllThreads) {
  const Timetable timetable = make("{}");
  EXPECT_THAT(operators_of(timetable), ElementsAre(ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8)));
  EXPECT_THAT(timetable.units[0].tags, ElementsAre("other"));
  ASSERT_EQ(timetable.phases.size(), 1U);
  EXPECT_THAT(timetable.phases[0].workers, ElementsAre(Turns{{0, 0}}));
  EXPECT_TRUE(timetable.phases[0].all_threads);
}

TEST(ProgramSchedule, ModulesAreUnits) {
  const Timetable timetable = make("units: [{modules: [block.a, block.b, stem], tags: [mine]}]");
  EXPECT_THAT(operators_of(timetable), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3),
                                                   ElementsAre(4, 5, 6), ElementsAre(7, 8)));
  EXPECT_THAT(names_of(timetable), ElementsAre("stem", "block.a", "block.b", "block … head"));
  EXPECT_THAT(timetable.units[0].tags, ElementsAre("mine"));
  EXPECT_THAT(timetable.units[3].tags, ElementsAre("other"));
}

TEST(ProgramSchedule, OperatorsAreUnitsOfTheirOwnUnlessJoined) {
  EXPECT_THAT(operators_of(make("units: [{operators: [conv2d], modules: [block]}]")),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(3), ElementsAre(4),
                          ElementsAre(5), ElementsAre(6), ElementsAre(7, 8)));
  EXPECT_THAT(operators_of(make("units: [{operators: [conv2d], modules: [block], join: true}]")),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4), ElementsAre(5),
                          ElementsAre(6), ElementsAre(7, 8)));
}

TEST(ProgramSchedule, ExceptLeavesModulesOut) {
  EXPECT_THAT(
      operators_of(make("units: [{modules: [\"block.**\"], except: [block.b], join: true}]")),
      ElementsAre(ElementsAre(0, 1, 4, 5, 6), ElementsAre(2, 3, 7), ElementsAre(8)));
}

TEST(ProgramSchedule, SequencesAreUnits) {
  const Timetable timetable = make("units: [{sequence: [conv2d, \"*pool*\", conv2d]}]");
  EXPECT_THAT(operators_of(timetable),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6), ElementsAre(7, 8)));
  EXPECT_EQ(timetable.units[1].name, "block.b.0 conv2d+max_pool2d+conv2d");
  // The first reader of operator 1 leads nowhere: the other one is tried.
  EXPECT_THAT(operators_of(make("units: [{sequence: [relu, conv2d, max_pool2d]}]"))[1],
              ElementsAre(1, 4, 5));
  // No operator is in two of them.
  EXPECT_THAT(operators_of(make("units: [{sequence: [conv2d, conv2d]}]"))[1], ElementsAre(2, 3));
}

TEST(ProgramSchedule, WhatIsJoinedNeverWaitsForItself) {
  // 1 and 7 follow operators of the same rule on one way, and others on another.
  const Timetable timetable = make("units: [{modules: [block.b.1]}]");
  EXPECT_THAT(operators_of(timetable),
              ElementsAre(ElementsAre(0, 1, 2, 3, 4), ElementsAre(5), ElementsAre(6, 7, 8)));
}

TEST(ProgramSchedule, WhatFetchesAWeightGoesWithItsReader) {
  const auto fetch = [] { return WeightedNode{.kind = "prim::GetAttr", .cost = 0}; };
  ScheduleRequest request = request_of("units: [{operators: [conv2d], join: true}]");
  // 2 is for two readers, of which a rule marks one. 4 is for one that no rule marks.
  request.graph = {{fetch(),
                    {.kind = "aten::conv2d", .after = {0}},
                    fetch(),
                    {.kind = "aten::conv2d", .after = {1, 2}},
                    fetch(),
                    {.kind = "aten::linear", .after = {2, 3, 4}}}};
  EXPECT_THAT(operators_of(make(request)),
              ElementsAre(ElementsAre(2), ElementsAre(0, 1, 3), ElementsAre(4, 5)));
}

TEST(ProgramSchedule, BranchesRunNextToEachOther) {
  const ScheduleRequest request = request_of(kBranches);
  const Timetable timetable = make(request);
  EXPECT_THAT(names_of(timetable), ElementsAre("stem.conv … stem.relu", "block.a.0 … block.a.1",
                                               "block.b.0 … block.b.2", "block … head"));
  ASSERT_EQ(timetable.phases.size(), 1U);
  EXPECT_FALSE(timetable.phases[0].all_threads);
  EXPECT_THAT(timetable.phases[0].workers,
              ElementsAre(Turns{{0, 0}, {1, 0}, {3, 0}}, Turns{{2, 0}}));
  // Stem, the longer branch, what joins them.
  EXPECT_EQ(makespan(timetable, request.graph, 1), 12 + 40 + 10);
}

TEST(ProgramSchedule, ARuleMayNameItsWorker) {
  const Timetable timetable = make(
      "units: [{modules: [block.a], worker: two}, {modules: [block.b], worker: one}]\n"
      "workers: [{name: one}, {name: two, takes: [network]}]\n");
  EXPECT_THAT(timetable.phases[0].workers,
              ElementsAre(Turns{{0, 0}, {2, 0}, {3, 0}}, Turns{{1, 0}}));
}

TEST(ProgramSchedule, MoreWorkersThanTheDeviceHasAreAllowed) {
  std::string yaml = "split: {parts: 64}\nworkers:\n";
  for (int i = 0; i < 64; ++i) yaml += fmt::format("  - name: w{}\n", i);
  EXPECT_EQ(make(yaml, 64).workers(), 64U);
}

TEST(ProgramSchedule, WorkersThatAreNotNamedAreTheDevices) {
  ScheduleRequest request = request_of("units: [{modules: [block.*]}]");
  EXPECT_EQ(make(request).workers(), 2U);
  request.workers = 3;
  EXPECT_EQ(make(request).workers(), 2U) << "there are two branches";
  request.workers = 1;
  EXPECT_EQ(make(request).workers(), 1U);
}

TEST(ProgramSchedule, ABatchIsSplitAsFarAsPartsStayLargeEnough) {
  const std::string yaml = "split: {parts: 4, at_least: 2}\n";
  for (const auto& [batch, parts] :
       {std::pair(1, 1), {3, 1}, {4, 2}, {5, 2}, {6, 3}, {8, 4}, {100, 4}}) {
    EXPECT_EQ(make(yaml, batch).parts, static_cast<std::size_t>(parts)) << batch;
  }
  ScheduleRequest request = request_of(yaml, 100);
  request.may_split = false;
  EXPECT_EQ(make(request).parts, 1U);
}

TEST(ProgramSchedule, MicroBatchesRunNextToEachOther) {
  const std::string yaml =
      "split: {parts: 2, at_least: 2}\nworkers: [{name: left}, {name: right}]\n";
  const Timetable split = make(yaml, 4);
  EXPECT_THAT(split.phases[0].workers, ElementsAre(Turns{{0, 0}}, Turns{{0, 1}}));
  EXPECT_EQ(makespan(split, block(), 1), 92.0 / 2);
  // Too small: as without the program.
  const Timetable whole = make(yaml, 3);
  EXPECT_THAT(whole.phases[0].workers, ElementsAre(Turns{{0, 0}}));
  EXPECT_TRUE(whole.phases[0].all_threads);
}

TEST(ProgramSchedule, ASplitThatIsNotMadeCostsNothing) {
  // A worker for each kind: without a second part one of them always waits.
  const std::string yaml =
      "units: [{operators: [\"*conv*\"], tags: [compute]}]\nsplit: {parts: 2}\n"
      "workers: [{name: one, takes: [compute]}, {name: two, takes: [other]}]\n";
  EXPECT_EQ(make(yaml, 2).workers(), 2U);
  ScheduleRequest request = request_of(yaml, 1);
  for (WeightedNode& node : request.graph.nodes) node.cost_all = 0.6 * node.cost;
  const Timetable timetable = make(request);
  EXPECT_EQ(timetable.units.size(), 1U);
  EXPECT_TRUE(timetable.phases[0].all_threads);
  // Where the units are faster even so, they are kept.
  EXPECT_EQ(make(std::string(kBranches) + "split: {parts: 2}\n", 1).units.size(), 4U);
}

TEST(ProgramSchedule, UnitsThatAreNotSplitRunOnceOnTheWholeBatch) {
  const ScheduleRequest request = request_of(
      "units: [{modules: [block.a, block.b], tags: [compute]}]\n"
      "split: {parts: 2, only: [compute]}\nworkers: [{name: one}, {name: two}]\n",
      2);
  const Timetable timetable = make(request);
  std::vector<bool> whole;
  for (const Unit& unit : timetable.units) whole.push_back(unit.whole);
  EXPECT_THAT(whole, ElementsAre(true, false, false, true));
  std::size_t turns = 0;
  for (const auto& worker : timetable.phases[0].workers) turns += worker.size();
  EXPECT_EQ(turns, 6U);
  // The stem on the whole batch, four halves of branches on two workers, the rest.
  const double longest = makespan(timetable, request.graph, 0);
  EXPECT_EQ(longest, 12 + 35 + 10);
  EXPECT_FALSE(
      make("units: [{modules: [block.a]}]\nsplit: {parts: 2, only: [other]}\n", 1).units[0].whole);
}

TEST(ProgramSchedule, TheOrderDecidesWhatIsTakenFirst) {
  const std::string units =
      "units: [{modules: [block.a], tags: [compute]}, {modules: [block.b], tags: [memory]}]\n"
      "workers: [{name: only}]\nsplit: {parts: 2}\n";
  const auto turns = [&](const std::string& order) {
    return make(units + "order: " + order, 2).phases[0].workers[0];
  };
  // Units: 0 stem, 1 a (the longer), 2 b, 3 what joins them.
  EXPECT_EQ(turns("[{part: earlier}, {path: longest}]"),
            (Turns{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {0, 1}, {1, 1}, {2, 1}, {3, 1}}));
  EXPECT_EQ(turns("[{part: later}, {tag: memory}]"),
            (Turns{{0, 1}, {2, 1}, {1, 1}, {3, 1}, {0, 0}, {2, 0}, {1, 0}, {3, 0}}));
  EXPECT_EQ(turns("[{path: longest}, {part: earlier}]"),
            (Turns{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {3, 0}, {3, 1}}));
  EXPECT_EQ(turns("[{path: shortest}]"),
            (Turns{{0, 0}, {2, 0}, {1, 0}, {3, 0}, {0, 1}, {2, 1}, {1, 1}, {3, 1}}));
  // Without an order: the longest path, then the earlier part.
  EXPECT_EQ(make(units, 2).phases[0].workers[0], turns("[{path: longest}, {part: earlier}]"));
}

TEST(ProgramSchedule, AWorkerTakesFirstWhatItNamesFirst) {
  const std::string units =
      "units: [{modules: [block.a], tags: [compute]}, {modules: [block.b], tags: [memory]}]\n";
  const Timetable timetable = make(
      units +
      "workers: [{name: one, takes: [memory, compute, other]}, {name: two, takes: [compute]}]");
  EXPECT_THAT(timetable.phases[0].workers,
              ElementsAre(Turns{{0, 0}, {2, 0}, {3, 0}}, Turns{{1, 0}}));
}

TEST(ProgramSchedule, ARuleThatMarksNothing) {
  expect_refused(request_of("units: [{modules: [stem]}, {name: odd, modules: [blok.a]}]"),
                 AllOf(HasSubstr("units[1] (odd) marks nothing"),
                       HasSubstr("no module fits \"blok.a\" (did you mean block.a")));
  expect_refused(request_of("units: [{operators: [conv3d]}]"),
                 HasSubstr("units[0] marks nothing: no operator is of the kind \"conv3d\" (did you "
                           "mean conv2d?)"));
  expect_refused(request_of("units: [{operators: [relu], modules: [block]}]"),
                 HasSubstr("no operator of these modules is of the kind \"relu\""));
  expect_refused(request_of("units: [{sequence: [conv2d, linear]}]"),
                 HasSubstr("no operators of the kinds \"conv2d\", \"linear\" read one another"));
  const std::string longest(256, 'a');
  expect_refused(request_of("units: [{modules: [m0, m1, m2, " + longest + ", m4, m5]}]"),
                 HasSubstr("\"m2\", \"" + longest.substr(0, 60) + "…\" and 2 more"));
  expect_refused(request_of("units: [{operators: [relu], except: [\"**\"]}]"),
                 HasSubstr("except leaves out every operator"));
}

TEST(ProgramSchedule, APartOfAModelNeedNotHaveAll) {
  ScheduleRequest request = request_of("units: [{modules: [features.0]}, {modules: [block.a]}]");
  expect_refused(request, HasSubstr("units[0] marks nothing"));
  request.partial = true;
  EXPECT_EQ(make(request).units.size(), 3U);
}

TEST(ProgramSchedule, RulesThatOverlap) {
  expect_refused(
      request_of("units: [{name: all, modules: [block]}, {operators: [max_pool2d]}]"),
      HasSubstr("units[0] (all) and units[1] both mark operator 5 (aten::max_pool2d, block.b.1)"));
}

TEST(ProgramSchedule, UnitsThatWaitForEachOther) {
  // Operator 5 needs the first half of a unit, whose second half needs operator 5.
  const std::string torn = "units: [{modules: [block.b], except: [block.b.1]}";
  expect_refused(request_of(torn + "]"),
                 AllOf(HasSubstr("mark what lies between as well, or less"),
                       HasSubstr("2 units wait for each other in a circle"),
                       HasSubstr("operator 6 (aten::conv2d, block.b.2) of unit 0 \"block.b\" waits "
                                 "for operator 5 (aten::max_pool2d, block.b.1)"),
                       HasSubstr("marked by no rule")));
  expect_refused(request_of(torn + ", {operators: [max_pool2d]}]"),
                 AllOf(HasSubstr("in a circle"), HasSubstr("\"block.b.1 max_pool2d\"")));
}

TEST(ProgramSchedule, ATagThatNoWorkerTakes) {
  expect_refused(request_of("units: [{name: mem, operators: [\"*pool*\"], tags: [memory, mine]}]\n"
                            "workers: [{name: one, takes: [other]}]\n"),
                 HasSubstr("no worker takes the tag memory or mine of unit \"block.b.1 "
                           "max_pool2d\", of units[0] (mem)"));
  expect_refused(request_of("units: [{modules: [block], tags: [compute]}]\n"
                            "workers: [{name: one, takes: [compute]}]\n"),
                 HasSubstr("no worker takes the tag other of unit \"stem.conv … stem.relu\", which "
                           "no rule marks"));
}

TEST(ProgramSchedule, AMemoryBoundThatIsTooSmall) {
  const std::uint64_t needed = peak_bytes(make(kBranches), block());
  EXPECT_GT(needed, 0U);
  expect_refused(request_of(fmt::format("{}most_memory: {}", kBranches, needed - 1)),
                 AllOf(HasSubstr("most_memory allows"),
                       HasSubstr(fmt::format("needs 4.88 KiB ({} bytes): raise it", needed))));
  EXPECT_EQ(make(fmt::format("{}most_memory: {}", kBranches, needed)).units.size(), 4U);
}

TEST(ProgramSchedule, BytesThatAreNoProgram) {
  ScheduleRequest request = request_of("{}");
  request.program = "units: []";
  expect_refused(request, HasSubstr("not JSON"));
  request.program = "";
  expect_refused(request, HasSubstr("not JSON"));
}

TEST(ProgramSchedule, OfNoOperators) {
  ScheduleRequest request = request_of("workers: [{name: one, takes: [other]}]");
  request.graph = {};
  const auto timetable = make_program(request);
  ASSERT_TRUE(timetable) << timetable.error().message;
  EXPECT_TRUE(timetable->units.empty());
}

TEST(ProgramSchedule, TheSamplesFitANetworkWithBranches) {
  // As inceptionv3 names its modules.
  WeightedGraph graph = block();
  const char* const scopes[]{"Conv2d_1a_3x3",
                             "Conv2d_1a_3x3",
                             "Mixed_5b.branch5x5_1",
                             "Mixed_5b.branch5x5_2",
                             "Mixed_5b.branch_pool",
                             "Mixed_5b",
                             "Mixed_5b.branch_pool2",
                             "Mixed_5b",
                             "fc"};
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) graph.nodes[i].scope = scopes[i];
  for (const auto& entry :
       std::filesystem::directory_iterator(PARETO_SOURCE_DIR "/configs/schedules")) {
    const auto text = read_file(entry.path(), 1 << 20);
    ASSERT_TRUE(text);
    ScheduleRequest request = request_of(*text, 8);
    request.graph = graph;
    const Timetable timetable = make(request);
    EXPECT_EQ(timetable.workers(), 2U) << entry.path();
    EXPECT_LT(makespan(timetable, graph, 1), 80) << entry.path() << ": sequentially 92";
  }
}

}  // namespace
}  // namespace pareto::schedules
