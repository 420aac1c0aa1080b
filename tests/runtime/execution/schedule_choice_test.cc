// Shards that run by a schedule.
#include "runtime/execution/schedule_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "runtime/schedules/schedule.h"
#include "tests/runtime/hand_made_shard.h"

namespace pareto::runtime {
namespace {

using test::HandMadeShard;
using testing::HasSubstr;
using testing::Not;

RunnerOptions by_schedule(const std::string& schedule, const std::string& engine = "plain",
                          int threads = 2, std::int64_t batch = 1) {
  RunnerOptions options;
  options.engine = engine;
  options.schedule = schedule;
  options.threads = threads;
  options.batch = batch;
  return options;
}

/// Returns rows of a picture that go through two branches each.
HandMadeShard two_branches() {
  torch::manual_seed(2);
  HandMadeShard shard;
  shard.weight("a", torch::randn({6, 3, 3, 3}) * 0.2)
      .weight("b", torch::randn({5, 3, 1, 1}) * 0.2)
      .weight("w", torch::randn({4, 11}));
  test::take_pictures(shard);
  shard.code(R"(
def run(self, x):
    a = torch.relu(torch.conv2d(x, self.a, None, [1, 1], [1, 1]))
    b = torch.sigmoid(torch.conv2d(x, self.b))
    c = torch.cat([a, b], 1)
    z = torch.adaptive_avg_pool2d(c, [1, 1]).flatten(1)
    return (torch.linear(z, self.w), c)
)");
  return shard;
}

TEST(ShardSchedules, GiveThePlainEnginesBits) {
  HandMadeShard shard = two_branches();
  for (const std::int64_t batch : {1, 2, 5}) {
    const auto plain = shard.load(by_schedule("sequential", "plain", 1)).value();
    const auto expected = plain->run(test::pictures(batch)).value();
    for (const std::string& name : schedules::schedule_names()) {
      if (name == "program") continue;
      for (const int threads : {1, 2, 3}) {
        const auto runner = shard.load(by_schedule(name, "plain", threads, batch));
        ASSERT_TRUE(runner) << name << ": " << runner.error().message;
        for (int run = 0; run < 3; ++run) {
          const auto outputs = (*runner)->run(test::pictures(batch));
          ASSERT_TRUE(outputs) << name << ": " << outputs.error().message;
          EXPECT_TRUE(bit_equal(Tuple{expected}, Tuple{*outputs}))
              << name << ", " << threads << " threads, batch " << batch;
        }
      }
    }
  }
}

TEST(ShardSchedules, KeepTheErrorOfEachEngine) {
  HandMadeShard shard = two_branches();
  const auto expected =
      shard.load(by_schedule("sequential", "plain", 1)).value()->run(test::pictures(4)).value();
  for (const std::string& engine : engine_names()) {
    for (const std::string& name : schedules::schedule_names()) {
      if (name == "program") continue;
      const auto runner = shard.load(by_schedule(name, engine, 2, 4));
      ASSERT_TRUE(runner) << engine << ", " << name << ": " << runner.error().message;
      const auto outputs = (*runner)->run(test::pictures(4)).value();
      EXPECT_LT(relative_error(Tuple{expected}, Tuple{outputs}), 1e-5) << engine << ", " << name;
      EXPECT_EQ((*runner)->report().engine, engine);
    }
  }
}

TEST(ShardSchedules, SayWhyABatchIsNotCut) {
  HandMadeShard shard = two_branches();
  const auto one = shard.load(by_schedule("microbatch", "plain", 2, 1)).value();
  EXPECT_EQ(one->report().schedule, "microbatch");
  EXPECT_EQ(one->report().schedule_reason, "a batch of one sample cannot be cut");
  const auto four = shard.load(by_schedule("microbatch", "plain", 2, 4)).value();
  EXPECT_EQ(four->report().schedule_reason, "");
}

TEST(ShardSchedules, MoreThreadsThanWorkersAreTold) {
  HandMadeShard shard = two_branches();
  const auto expected =
      shard.load(by_schedule("sequential", "plain", 1)).value()->run(test::pictures(70)).value();
  for (const int threads : {64, 65, 100, 256}) {
    const auto runner = shard.load(by_schedule("microbatch", "prepacked", threads, 70));
    ASSERT_TRUE(runner) << runner.error().message;
    const auto outputs = (*runner)->run(test::pictures(70));
    ASSERT_TRUE(outputs) << outputs.error().message;
    EXPECT_LT(relative_error(Tuple{expected}, Tuple{*outputs}), 1e-5) << threads << " threads";
    EXPECT_EQ((*runner)->worker_times().size(), 64U);
    const std::string& reason = (*runner)->report().schedule_reason;
    if (threads == 64) {
      EXPECT_EQ(reason, "");
    } else {
      EXPECT_EQ(reason,
                fmt::format("64 of {} threads are its workers: there are no more", threads));
    }
  }
  const auto refused = shard.load(by_schedule("microbatch", "plain", 257, 70));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("257 threads, batch 70: 1 to 256 threads"));
}

TEST(ShardSchedules, AutoSaysWhatItChoseFrom) {
  HandMadeShard shard = two_branches();
  const auto runner = shard.load(by_schedule("auto", "plain", 2, 4)).value();
  EXPECT_THAT(schedules::schedule_names(), testing::Contains(runner->report().schedule));
  EXPECT_THAT(runner->report().schedule_reason, HasSubstr("the fastest here: sequential "));
  EXPECT_THAT(runner->report().schedule_reason, HasSubstr("microbatch"));
}

TEST(ShardSchedules, AutoTriesNoneThatIsSequentialByAnotherName) {
  HandMadeShard shard = two_branches();
  const auto runner = shard.load(by_schedule("auto", "plain", 2, 1)).value();
  EXPECT_THAT(runner->report().schedule_reason, Not(HasSubstr("microbatch")));
}

TEST(ShardSchedules, AnUnknownOneIsRefusedWithTheNearest) {
  HandMadeShard shard = two_branches();
  const auto runner = shard.load(by_schedule("cluster"));
  ASSERT_FALSE(runner);
  EXPECT_EQ(runner.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(runner.error().message,
              HasSubstr("no schedule \"cluster\" (did you mean clusters?)"));
}

TEST(ShardSchedules, AreTraced) {
  HandMadeShard shard = two_branches();
  for (const char* name : {"sequential", "clusters"}) {
    const auto runner = shard.load(by_schedule(name)).value();
    const auto trace = runner->trace_schedule(test::pictures(1), 3);
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_TRUE(schedules::check(trace->timetable, trace->graph));
    EXPECT_EQ(trace->turns.size(), trace->timetable.units.size());
    EXPECT_GT(trace->measured, Nanoseconds{});
    EXPECT_GT(trace->sequential_one, Nanoseconds{});
    EXPECT_GT(trace->sequential_all, Nanoseconds{});
    EXPECT_GT(trace->predicted, 0);
    EXPECT_GT(trace->peak_bytes, 0u);
    for (const schedules::TurnTime& turn : trace->turns) {
      EXPECT_LT(turn.unit, trace->timetable.units.size());
      EXPECT_LE(turn.begin, turn.end);
      EXPECT_LE(turn.end, 100 * trace->measured);
    }
    const auto times = runner->worker_times();
    EXPECT_EQ(times.size(), std::max<std::size_t>(trace->timetable.workers(), 1));
    // It still runs, and gives what it gave.
    EXPECT_TRUE(runner->run(test::pictures(1)));
  }
}

TEST(ShardSchedules, BadInputFailsItsRequestAlone) {
  HandMadeShard shard = two_branches();
  const auto runner = shard.load(by_schedule("clusters")).value();
  const auto expected = runner->run(test::pictures(1)).value();
  EXPECT_FALSE(runner->run({runtime::from_torch(torch::randn({1, 7, 8, 8})).value()}));
  EXPECT_FALSE(runner->run({std::int64_t{1}}));
  EXPECT_TRUE(bit_equal(Tuple{expected}, Tuple{runner->run(test::pictures(1)).value()}));
}

TEST(ShardSchedules, AnEndlessWorkerCanBeStopped) {
  HandMadeShard shard;
  shard.input("x", test::picture()).input("n", std::int64_t{1}).code(R"(
def run(self, x, n: int):
    y = x * 2
    while n > 5:
        n = n + 1
        if n > 1000000:
            n = 6
        y = y + 1
    return (y, x * 3)
)");
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  RunnerOptions options = by_schedule("clusters");
  options.stop = stop;
  const auto runner = shard.load(options).value();
  const std::vector<Value> finite{test::picture(), std::int64_t{2}};
  ASSERT_TRUE(runner->run(finite));
  auto endless = std::async(std::launch::async, [&] {
    return runner->run({test::picture(), std::int64_t{6}});
  });
  *stop = true;
  const auto stopped = endless.get();
  ASSERT_FALSE(stopped);
  EXPECT_THAT(stopped.error().message, HasSubstr("it was stopped"));
  *stop = false;
  EXPECT_TRUE(runner->run(finite));
}

/// Returns a shard of rows of four numbers, with that result.
HandMadeShard of_rows(const std::string& result) {
  const auto example = [](std::int64_t batch) {
    return runtime::from_torch(torch::ones({batch, 4})).value();
  };
  HandMadeShard shard;
  shard.shard().inputs.push_back({"x", join_specs(example(1), 1, example(2), 2).value()});
  shard.code("def run(self, x):\n    return (" + result + ",)\n");
  return shard;
}

TEST(ShardSchedules, ABatchWhoseSamplesMeetIsNotCut) {
  // By its sizes the first could be cut: only its results tell.
  for (const char* const result : {"x - x.mean(0)", "torch.relu(x).cumsum(0)", "x.flip(0) + 1"}) {
    HandMadeShard shard = of_rows(result);
    const auto plain = shard.load(by_schedule("sequential", "plain", 1, 4)).value();
    const auto runner = shard.load(by_schedule("microbatch", "plain", 2, 4));
    ASSERT_TRUE(runner) << runner.error().message;
    EXPECT_THAT((*runner)->report().schedule_reason,
                HasSubstr("the batch is not cut: its results are not those of the plain engine"))
        << result;
    torch::manual_seed(3);
    const std::vector<Value> rows{runtime::from_torch(torch::randn({4, 4})).value()};
    EXPECT_TRUE(bit_equal(Tuple{plain->run(rows).value()}, Tuple{(*runner)->run(rows).value()}));
  }
}

TEST(ShardSchedules, AShardThatComputesNothingHasEverySchedule) {
  HandMadeShard shard = of_rows("x");
  for (const std::string& name : schedules::schedule_names()) {
    if (name == "program") continue;
    const auto runner = shard.load(by_schedule(name, "plain", 2, 4));
    ASSERT_TRUE(runner) << name << ": " << runner.error().message;
    const std::vector<Value> rows{runtime::from_torch(torch::randn({4, 4})).value()};
    EXPECT_TRUE(bit_equal(Tuple{rows}, Tuple{(*runner)->run(rows).value()})) << name;
  }
}

TEST(ShardSchedules, AProgramThatDoesNotFitIsRefused) {
  HandMadeShard shard = two_branches();
  for (const char* const program :
       {"{", "{\"unit\":[]}", "{\"workers\":[{\"name\":\"a\",\"takes\":[\"compute\"]}]}",
        "{\"most_memory\":1}"}) {
    const auto runner = shard.load(by_schedule(program));
    ASSERT_FALSE(runner) << program;
    EXPECT_EQ(runner.error().code, ErrorCode::kInvalidArgument) << runner.error().message;
  }
}

}  // namespace
}  // namespace pareto::runtime
