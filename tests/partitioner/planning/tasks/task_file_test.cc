#include "partitioner/planning/tasks/task_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/file.h"

namespace pareto::tasks {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Expected<> known(const std::string& name) {
  if (name == "resnet50" || name == "squeezenet1_0" || name.ends_with("mine.pt")) return {};
  return fail(ErrorCode::kNotFound, "unknown model \"{}\"", name);
}

Expected<TaskSet> parse(const std::string& text) {
  return parse_tasks(text, "mine.yaml", "/data", known);
}

void refuses(const std::string& text, const testing::Matcher<std::string>& sentence) {
  const auto set = parse(text);
  ASSERT_FALSE(set) << text;
  EXPECT_EQ(set.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(set.error().message, AllOf(HasSubstr("mine.yaml"), sentence));
}

TEST(TaskFile, HasRowsOfTasks) {
  const auto set = parse(
      "tasks:\n"
      "  - {model: resnet50, count: 2, batch: 4}\n"
      "  - {model: ./mine.pt, input_shape: 3x8x8, inputs: [a.npy], arrival: 30ms,\n"
      "     deadline: 20ms, priority: 3}\n"
      "  - {model: resnet50, batch: 4}\n");
  ASSERT_TRUE(set) << set.error().message;
  ASSERT_EQ(set->models.size(), 2U) << "equal rows share a model";
  EXPECT_EQ(set->models[0].title(), "resnet50 x4");
  EXPECT_EQ(set->models[1].model, "/data/mine.pt");
  EXPECT_EQ(set->models[1].inputs, std::vector<std::string>{"/data/a.npy"});
  ASSERT_EQ(set->tasks.size(), 4U);
  EXPECT_FALSE(set->tasks[0].deadline);
  const Task& last = set->tasks.back();
  EXPECT_EQ(last.model, 1U) << "in the order in which they come";
  EXPECT_EQ(last.arrival, std::chrono::milliseconds(30));
  EXPECT_EQ(last.deadline, std::chrono::milliseconds(50)) << "counted from the arrival";
  EXPECT_EQ(last.priority, 3);
  EXPECT_TRUE(set->has_deadlines());
  EXPECT_TRUE(set->has_priorities());
}

TEST(TaskFile, ShufflesAndSpreadsBySeed) {
  const std::string text =
      "seed: 7\nshuffle: true\narrivals: poisson:20/s\n"
      "tasks: [{model: resnet50, count: 8}, {model: squeezenet1_0, count: 8}]\n";
  const auto set = parse(text);
  ASSERT_TRUE(set) << set.error().message;
  const auto again = parse(text);
  bool mixed = false;
  for (std::size_t i = 0; i < set->tasks.size(); ++i) {
    EXPECT_EQ(set->tasks[i].model, again->tasks[i].model);
    EXPECT_EQ(set->tasks[i].arrival, again->tasks[i].arrival);
    mixed = mixed || (set->tasks[i].model == 1 && i < 8);
  }
  EXPECT_TRUE(mixed);
  EXPECT_GT(set->tasks.back().arrival.count(), 0);
}

TEST(TaskFile, TakesATraceOfArrivals) {
  const auto folder = TemporaryFolder::create("trace");
  ASSERT_TRUE(folder);
  ASSERT_TRUE(write_file_atomically(folder->path() / "t.txt", "0.5\n0.75\n2\n"));
  const auto set = parse_tasks("arrivals: trace:t.txt\ntasks: [{model: resnet50, count: 3}]\n", "f",
                               folder->path(), known);
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->tasks[0].arrival.count(), 0);
  EXPECT_EQ(set->tasks[1].arrival, std::chrono::milliseconds(250));
  EXPECT_EQ(set->tasks[2].arrival, std::chrono::milliseconds(1500));
}

TEST(TaskFile, SaysWhatIsWrongAndWhere) {
  refuses("tasks: []\n", HasSubstr("no tasks"));
  refuses("seed: 1\n", HasSubstr("no tasks"));
  refuses("tasks:\n  - {model: resnet51}\n",
          AllOf(HasSubstr("mine.yaml:2"), HasSubstr("unknown model \"resnet51\"")));
  refuses("tasks:\n  - {model: resnet50, deadline: 0ms}\n",
          AllOf(HasSubstr("mine.yaml:2"), HasSubstr("in the past")));
  refuses("tasks: [{model: resnet50, count: 0}]\n", HasSubstr("count"));
  refuses("tasks: [{model: resnet50, count: 10000}, {model: resnet50}]\n",
          HasSubstr("10001 tasks"));
  refuses("tasks: [{model: resnet50, dead_line: 3ms}]\n", HasSubstr("deadline"));
  refuses("tasks: [{count: 2}]\n", HasSubstr("model"));
  refuses("tasks: [{model: ''}]\n", HasSubstr("\"tasks[0].model\": is empty"));
  refuses("tasks: [{model: resnet50, arrival: 25h}]\n", HasSubstr("24 hours at most"));
  refuses("arrivals: poisson:0.0001/s\ntasks: [{model: resnet50, count: 100}]\n",
          HasSubstr("comes more than 24 hours after the start"));
  refuses("arrivals: often\ntasks: [{model: resnet50}]\n", HasSubstr("poisson"));
  refuses("tasks: [{model: resnet50, arrival: 1s, arrivals: poisson:2/s}]\n",
          HasSubstr("leave one of them out"));
}

TEST(TaskFile, SamplesAreRead) {
  int samples = 0;
  for (const auto& file : std::filesystem::directory_iterator(PARETO_SOURCE_DIR "/configs/tasks")) {
    const auto set = read_tasks(file.path(), [](const std::string&) { return Expected<>(); });
    EXPECT_TRUE(set) << set.error().message;
    ++samples;
  }
  EXPECT_GE(samples, 2);
}

}  // namespace
}  // namespace pareto::tasks
