// Shards that run by a user's own schedule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/schedules/program.h"
#include "tests/runtime/hand_made_shard.h"

namespace pareto::runtime {
namespace {

using test::HandMadeShard;
using testing::HasSubstr;

RunnerOptions by_program(const std::string& yaml, std::int64_t batch) {
  RunnerOptions options;
  options.engine = "plain";
  options.threads = 2;
  options.batch = batch;
  options.schedule = schedules::to_json(schedules::program_from_yaml(yaml, "p.yaml").value());
  return options;
}

/// Returns rows of a picture that go through three branches.
HandMadeShard three_branches() {
  torch::manual_seed(4);
  HandMadeShard shard;
  shard.weight("a", torch::randn({6, 3, 3, 3}) * 0.2)
      .weight("b", torch::randn({5, 3, 1, 1}) * 0.2)
      .weight("w", torch::randn({4, 14}));
  test::take_pictures(shard);
  shard.code(R"(
def run(self, x):
    a = torch.relu(torch.conv2d(x, self.a, None, [1, 1], [1, 1]))
    b = torch.sigmoid(torch.conv2d(x, self.b))
    p = torch.max_pool2d(x, [3, 3], [1, 1], [1, 1])
    c = torch.cat([a, b, p], 1)
    z = torch.adaptive_avg_pool2d(c, [1, 1]).flatten(1)
    return (torch.linear(z, self.w), c)
)");
  return shard;
}

const std::vector<std::string>& programs() {
  static const std::vector<std::string> kPrograms{
      "{}", "split: {parts: 2}\nworkers: [{name: left}, {name: right}]\n",
      "split: {parts: 3, at_least: 2}\nunits: [{operators: [\"*conv*\"]}]\n",
      "units: [{sequence: [conv2d, relu], tags: [mine]}, {operators: [\"*pool*\", cat], tags: "
      "[memory]}]\nworkers: [{name: a, takes: [mine, other]}, {name: b, takes: [memory, mine]}]\n",
      // The ends of the shard in parts, and its middle whole; then the other way round.
      "units: [{operators: [cat], tags: [memory]}]\nsplit: {parts: 2, only: [other]}\n",
      "units: [{operators: [\"*conv*\", cat], tags: [mine]}]\nsplit: {parts: 2, only: [mine]}\n"
      "order: [{part: later}]\nworkers: [{name: a}, {name: b}, {name: c}]\n"};
  return kPrograms;
}

TEST(ShardPrograms, GiveThePlainEnginesBits) {
  HandMadeShard shard = three_branches();
  for (const std::int64_t batch : {1, 3, 8}) {
    const auto plain = shard.load("plain").value();
    const auto expected = plain->run(test::pictures(batch)).value();
    for (const std::string& program : programs()) {
      SCOPED_TRACE(program + ", batch " + std::to_string(batch));
      const RunnerOptions options = by_program(program, batch);
      const auto runner = shard.load(options);
      ASSERT_TRUE(runner) << runner.error().message;
      EXPECT_EQ((*runner)->report().schedule, options.schedule);
      for (int run = 0; run < 3; ++run) {
        const auto outputs = (*runner)->run(test::pictures(batch));
        ASSERT_TRUE(outputs) << outputs.error().message;
        EXPECT_TRUE(bit_equal(Tuple{expected}, Tuple{*outputs}));
      }
    }
  }
}

TEST(ShardPrograms, SplitABatchThatIsLargeEnough) {
  HandMadeShard shard = three_branches();
  for (const auto& [batch, parts] : {std::pair(1, 1U), {3, 1U}, {8, 3U}}) {
    const auto runner = shard.load(by_program(programs()[2], batch)).value();
    const auto trace = runner->trace_schedule(test::pictures(batch), 1);
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(trace->timetable.parts, parts) << batch;
  }
}

TEST(ShardPrograms, SayWhyABatchIsNotSplit) {
  HandMadeShard shard = three_branches();
  const auto reason = [&](const std::string& program, std::int64_t batch) {
    return shard.load(by_program(program, batch)).value()->report().schedule_reason;
  };
  EXPECT_EQ(reason(programs()[2], 1), "a batch of one sample cannot be cut");
  EXPECT_EQ(reason(programs()[0], 1), "") << "it has no split";
  EXPECT_EQ(reason(programs()[2], 8), "");
  EXPECT_EQ(reason(programs()[2], 3), "") << "its own rule keeps so small a batch whole";
}

TEST(ShardPrograms, AreRefusedWithTheOperator) {
  HandMadeShard shard = three_branches();
  const auto runner =
      shard.load(by_program("units: [{operators: [cat]}, {operators: [\"ca*\"]}]", 1));
  ASSERT_FALSE(runner);
  EXPECT_EQ(runner.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(runner.error().message, HasSubstr("units[0] and units[1] both mark operator"));
}

}  // namespace
}  // namespace pareto::runtime
