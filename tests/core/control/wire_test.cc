#include "core/control/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace pareto::control {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Wire, ShardSettingsComeBack) {
  const ShardSettings settings{{"prepacked", "bf16", 3, 0.01, "clusters"}, 8, "cuda:0"};
  EXPECT_EQ(from_wire(to_wire(settings)).value(), settings);
  EXPECT_EQ(from_wire(v1::RunnerSettings()).value().engine, "auto") << "of who names none";
  EXPECT_EQ(from_wire(v1::RunnerSettings()).value().schedule, "sequential") << "the same";
  v1::RunnerSettings greedy;
  greedy.set_threads(plan::kMostThreads + 1);
  EXPECT_EQ(from_wire(greedy).error().code, ErrorCode::kInvalidArgument);
}

TEST(Wire, AProgramComesBackWholeUpToALimit) {
  ShardSettings settings;
  settings.schedule = "{\"units\":\"" + std::string(100'000, 'x') + "\"}";
  EXPECT_EQ(from_wire(to_wire(settings)).value(), settings);
  v1::RunnerSettings named;
  named.set_schedule("mi\x1bxed");
  EXPECT_EQ(from_wire(named).value().schedule, "mi xed") << "fit to print";
  named.set_schedule(std::string(plan::kMostScheduleBytes + 1, '{'));
  EXPECT_EQ(from_wire(named).error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(from_wire(named).error().message, HasSubstr("262145 bytes"));
}

TEST(Wire, AShardReportComesBack) {
  const ShardReport report{"shard-7",
                           "prepacked",
                           {{"plain", Nanoseconds(8'120'000), "", 0, "fp32"},
                            {"onednn", {}, "no such operator", 0, "fp32"},
                            {"prepacked", Nanoseconds(1'920'000), "", 0.012, "bf16"}},
                           1 << 20,
                           3 << 20,
                           true,
                           "bf16",
                           "the device keeps fp32",
                           "mixed",
                           "the fastest of 3"};
  EXPECT_EQ(from_wire(to_wire(report)).value(), report);
  EXPECT_EQ(from_wire(to_wire(ShardReport())).value(), ShardReport());
}

TEST(Wire, AShardReportThatNoDeviceGivesIsCorrupt) {
  v1::LoadShardReply wire = to_wire(ShardReport{"shard\n7", "pl\x1b[31main"});
  EXPECT_EQ(from_wire(wire).value(), (ShardReport{"shard 7", "pl [31main"})) << "fit to print";
  wire.add_timings()->set_best_ns(-1);
  EXPECT_EQ(from_wire(wire).error().code, ErrorCode::kCorrupt);
  wire.mutable_timings(0)->set_best_ns(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(from_wire(wire).error().code, ErrorCode::kCorrupt);
  wire.mutable_timings(0)->set_best_ns(1);
  for (int i = 0; i < 64; ++i) wire.add_timings();
  EXPECT_EQ(from_wire(wire).error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(from_wire(wire).error().message, HasSubstr("65 engines"));
}

TEST(Wire, AStageRequestComesBack) {
  const StageRequest request{0xfedc'ba98'7654'3210,
                             3,
                             "shard-1",
                             "tcp",
                             "grpc",
                             "10.0.0.2:7071",
                             9,
                             1 << 20,
                             "fp16",
                             Nanoseconds(12'345),
                             false,
                             2.5,
                             -7,
                             "device pi-1",
                             "coordinator lab",
                             "device pi-3"};
  EXPECT_EQ(from_wire(to_wire(request)), request);
  v1::OpenStageRequest endless;
  endless.set_profiled_compute_ns(std::numeric_limits<std::uint64_t>::max());
  EXPECT_GE(from_wire(endless).profiled_compute, Nanoseconds(0));
  EXPECT_EQ(from_wire(endless).weight, 1) << "of a coordinator that knows no weights";
}

TEST(Wire, AStageReportComesBackInEveryState) {
  for (const StageState state : {StageState::kOpening, StageState::kRunning, StageState::kDraining,
                                 StageState::kFailed, StageState::kClosed}) {
    const StageReport report{7, 1, "shard-1", state, "a link broke", 10, 2, 300, 400};
    EXPECT_EQ(from_wire(to_wire(report)).value(), report) << to_string(state);
  }
  v1::StageStatus odd;
  odd.set_state("asleep\n");
  EXPECT_EQ(from_wire(odd).error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(from_wire(odd).error().message, HasSubstr("asleep "));
}

StageActivity an_activity() {
  StageActivity activity{{7, 1, "shard-1", StageState::kRunning, "", 10, 2, 300, 400}};
  activity.model = "resnet50";
  activity.begin = 3;
  activity.end = 40;
  activity.engine = "plain";
  activity.answered = 8;
  activity.in_flight = 1;
  activity.wait.counts[2] = 5;
  activity.wait.sum = Nanoseconds(100);
  activity.compute.counts[4] = 8;
  activity.compute.sum = Nanoseconds(200);
  activity.receiving = Nanoseconds(1);
  activity.sending = Nanoseconds(2);
  activity.round_trip = Nanoseconds(3);
  activity.link_bytes_per_second = 4;
  activity.schedule = "clusters";
  activity.workers = {Nanoseconds(150), Nanoseconds(0), Nanoseconds(90)};
  return activity;
}

TEST(Wire, AStageActivityComesBack) {
  const StageActivity activity = an_activity();
  const StageActivity back = from_wire(to_wire(activity)).value();
  EXPECT_EQ(static_cast<const StageReport&>(back), activity);
  EXPECT_EQ(back.model, "resnet50");
  EXPECT_EQ(back.begin, 3);
  EXPECT_EQ(back.end, 40);
  EXPECT_EQ(back.engine, "plain");
  EXPECT_EQ(back.answered, 8U);
  EXPECT_EQ(back.in_flight, 1U);
  EXPECT_EQ(back.wait.counts, activity.wait.counts);
  EXPECT_EQ(back.wait.sum, activity.wait.sum);
  EXPECT_EQ(back.compute.counts, activity.compute.counts);
  EXPECT_EQ(back.compute.sum, activity.compute.sum);
  EXPECT_EQ(back.receiving, Nanoseconds(1));
  EXPECT_EQ(back.sending, Nanoseconds(2));
  EXPECT_EQ(back.round_trip, Nanoseconds(3));
  EXPECT_EQ(back.link_bytes_per_second, 4U);
  EXPECT_EQ(back.schedule, "clusters");
  EXPECT_EQ(back.workers, activity.workers);
}

TEST(Wire, AnActivityThatNoStageHasIsCorrupt) {
  const std::vector<std::function<void(v1::StageActivity&)>> lies{
      [](v1::StageActivity& wire) { wire.mutable_status()->set_state(""); },
      [](v1::StageActivity& wire) { wire.mutable_wait()->add_counts(1); },
      [](v1::StageActivity& wire) { wire.mutable_compute()->clear_counts(); },
      [](v1::StageActivity& wire) { wire.mutable_wait()->set_sum_ns(-1); },
      [](v1::StageActivity& wire) { wire.set_receiving_ns(INT64_MAX); },
      [](v1::StageActivity& wire) { wire.set_sending_ns(-1); },
      [](v1::StageActivity& wire) { wire.set_round_trip_ns(INT64_MIN); },
      [](v1::StageActivity& wire) { wire.set_worker_ns(1, -1); },
      [](v1::StageActivity& wire) {
        for (int i = 0; i < 1000; ++i) wire.add_worker_ns(1);
      },
  };
  for (std::size_t i = 0; i < lies.size(); ++i) {
    v1::StageActivity wire = to_wire(an_activity());
    lies[i](wire);
    const auto read = from_wire(wire);
    ASSERT_FALSE(read) << i;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt) << i;
  }
}

TEST(Wire, AMachineStateComesBackWithoutWhatNoMachineHas) {
  MachineState state;
  state.memory_bytes = 1 << 30;
  state.memory_available_bytes = 1 << 20;
  state.temperature_celsius = 61.5;
  state.frequency_hertz = 6e8;
  state.frequency_max_hertz = 1.5e9;
  state.governors = {"powersave"};
  state.throttled = {"under_voltage"};
  state.throttle_events = 7;
  state.netem_problem = "not allowed";
  state.load = {Nanoseconds(5), 4, 0.5};
  state.quota_periods = 9;
  state.throttled_periods = 3;
  v1::MachineState wire = to_wire(state);
  const MachineState back = from_wire(wire);
  EXPECT_EQ(back.memory_bytes, state.memory_bytes);
  EXPECT_EQ(back.memory_available_bytes, state.memory_available_bytes);
  EXPECT_EQ(back.temperature_celsius, state.temperature_celsius);
  EXPECT_EQ(back.frequency_hertz, state.frequency_hertz);
  EXPECT_EQ(back.frequency_max_hertz, state.frequency_max_hertz);
  EXPECT_THAT(back.governors, ElementsAre("powersave"));
  EXPECT_THAT(back.throttled, ElementsAre("under_voltage"));
  EXPECT_EQ(back.throttle_events, 7U);
  EXPECT_EQ(back.netem_problem, "not allowed");
  EXPECT_EQ(back.load.busy, Nanoseconds(5));
  EXPECT_EQ(back.load.processors, 4);
  EXPECT_EQ(back.load.load, 0.5);
  EXPECT_EQ(back.quota_periods, 9U);
  EXPECT_EQ(back.throttled_periods, 3U);

  wire.set_temperature_celsius(std::numeric_limits<double>::quiet_NaN());
  wire.set_processors(1 << 30);
  wire.set_netem_problem("\x1b[31mred");
  const MachineState odd = from_wire(wire);
  EXPECT_FALSE(odd.temperature_celsius);
  EXPECT_EQ(odd.load.processors, 0);
  EXPECT_EQ(odd.netem_problem, " [31mred");
}

}  // namespace
}  // namespace pareto::control
