// Programs on graphs at random.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "runtime/schedules/program.h"
#include "runtime/schedules/schedule.h"

namespace pareto::schedules {
namespace {

using testing::HasSubstr;

/// Returns operators with random readers, kinds and modules.
WeightedGraph random_graph(std::mt19937& random) {
  const auto below = [&](std::size_t end) { return random() % end; };
  const char* const kinds[]{"aten::conv2d", "aten::relu", "aten::cat", "aten::add"};
  WeightedGraph graph;
  const std::size_t count = 1 + below(60);
  for (std::size_t i = 0; i < count; ++i) {
    WeightedNode& node = graph.nodes.emplace_back();
    node.kind = kinds[below(4)];
    node.scope = fmt::format("m{}.c{}", i / 6, below(3));
    node.cost = static_cast<double>(below(20));
    node.output_bytes = below(1000);
    std::set<std::size_t> after;
    for (std::size_t k = i == 0 ? 0 : below(3); k > 0; --k)
      after.insert(i - 1 - below(std::min<std::size_t>(i, 8)));
    node.after.assign(after.begin(), after.end());
  }
  return graph;
}

/// Whatever a program marks, its timetable is complete and ends, or units wait for each other.
TEST(ProgramSchedule, RandomGraphs) {
  const std::vector<std::string> programs{
      "units: [{operators: [conv2d], join: true, tags: [compute]}, {operators: [cat, add], join: "
      "true, tags: [memory]}]\nsplit: {parts: 3}\nworkers: [{name: a, takes: [compute, other]}, "
      "{name: b, takes: [memory, compute]}]\n",
      "units: [{modules: [\"m*\"]}]\nsplit: {parts: 2}\n",
      "units: [{sequence: [conv2d, relu], tags: [compute]}, {operators: [cat], tags: "
      "[memory]}]\nsplit: {parts: 4, only: [compute, other]}\norder: [{tag: memory}, {part: "
      "later}]\n",
      "units: [{modules: [\"*.c1\"], tags: [mine], join: true}]\nsplit: {parts: 2, only: "
      "[mine]}\n"};
  std::mt19937 random(7);
  int made = 0;
  for (int round = 0; round < 300; ++round) {
    const auto program = program_from_yaml(programs[round % programs.size()], "p.yaml");
    ASSERT_TRUE(program) << program.error().message;
    ScheduleRequest request{.graph = random_graph(random),
                            .workers = 3,
                            .batch = 8,
                            .may_split = true,
                            .hand_off = 1,
                            .program = to_json(*program)};
    request.partial = true;
    const auto timetable = make_program(request);
    if (!timetable) {
      EXPECT_THAT(timetable.error().message, HasSubstr("wait for each other in a circle"));
      continue;
    }
    const auto checked = check(*timetable, request.graph);
    ASSERT_TRUE(checked) << checked.error().message;
    ++made;
  }
  EXPECT_GT(made, 150);
}

}  // namespace
}  // namespace pareto::schedules
