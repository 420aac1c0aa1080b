// What a device tells of itself, and what is made of it where the device tells nonsense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "coordinator/cluster/observation_wire.h"

namespace pareto::cluster {
namespace {

namespace v1 = control::v1;
using testing::ElementsAre;
using testing::HasSubstr;

void fill(v1::Durations& durations, std::uint64_t first, std::int64_t sum) {
  for (std::size_t i = 0; i < kDurationBounds.size() + 1; ++i)
    durations.add_counts(i == 0 ? first : 0);
  durations.set_sum_ns(sum);
}

v1::ObserveReply good_reply() {
  v1::ObserveReply reply;
  reply.set_clock_ns(1000);
  reply.set_cpu_ns(200);
  reply.set_resident_bytes(30);
  v1::StageActivity& stage = *reply.add_stages();
  stage.mutable_status()->set_pipeline(~std::uint64_t{0});
  stage.mutable_status()->set_stage(2);
  stage.mutable_status()->set_state("running");
  stage.mutable_status()->set_shard("shard-1");
  stage.mutable_status()->set_failed_requests(1);
  stage.mutable_status()->set_bytes_received(10);
  stage.mutable_status()->set_bytes_sent(20);
  stage.set_model("resnet50");
  stage.set_begin(3);
  stage.set_end(9);
  stage.set_engine("fast");
  stage.set_answered(7);
  stage.mutable_status()->set_in_flight(4);
  fill(*stage.mutable_wait(), 6, 60);
  fill(*stage.mutable_compute(), 5, 50);
  stage.set_receiving_ns(11);
  stage.set_sending_ns(12);
  stage.set_round_trip_ns(13);
  stage.set_link_bytes_per_second(14);
  v1::MachineState& machine = *reply.mutable_machine();
  machine.set_memory_bytes(100);
  machine.set_memory_available_bytes(40);
  machine.set_temperature_celsius(61.5);
  machine.add_governors("ondemand");
  machine.add_throttled("under_voltage");
  machine.set_throttle_events(3);
  machine.set_netem_problem("not allowed");
  machine.set_processors_ns(77);
  machine.set_processors(4);
  machine.set_load(1.5);
  machine.set_quota_periods(9);
  machine.set_quota_periods_throttled(8);
  reply.set_other_coordinators(2);
  reply.set_other_pipelines(5);
  return reply;
}

TEST(Observations, ComeAsTheyWereTold) {
  const Observation observation = observation_of(good_reply()).value();
  EXPECT_EQ(observation.clock, Nanoseconds(1000));
  EXPECT_EQ(observation.cpu, Nanoseconds(200));
  EXPECT_EQ(observation.resident_bytes, 30U);
  ASSERT_EQ(observation.stages.size(), 1U);
  const control::StageActivity& stage = observation.stages[0];
  EXPECT_EQ(stage.pipeline, ~std::uint64_t{0});
  EXPECT_EQ(stage.stage, 2U);
  EXPECT_EQ(stage.state, control::StageState::kRunning);
  EXPECT_EQ(stage.shard, "shard-1");
  EXPECT_EQ(stage.model, "resnet50");
  EXPECT_EQ(stage.begin, 3);
  EXPECT_EQ(stage.end, 9);
  EXPECT_EQ(stage.engine, "fast");
  EXPECT_EQ(stage.answered, 7U);
  EXPECT_EQ(stage.failed_requests, 1U);
  EXPECT_EQ(stage.in_flight, 4U);
  EXPECT_EQ(stage.bytes_received, 10U);
  EXPECT_EQ(stage.bytes_sent, 20U);
  EXPECT_EQ(stage.wait.total(), 6U);
  EXPECT_EQ(stage.compute.total(), 5U);
  EXPECT_EQ(stage.compute.sum, Nanoseconds(50));
  EXPECT_EQ(stage.receiving, Nanoseconds(11));
  EXPECT_EQ(stage.sending, Nanoseconds(12));
  EXPECT_EQ(stage.round_trip, Nanoseconds(13));
  EXPECT_EQ(stage.link_bytes_per_second, 14U);
  const control::MachineState& machine = observation.machine;
  EXPECT_EQ(machine.memory_bytes, 100U);
  EXPECT_EQ(machine.memory_available_bytes, 40U);
  EXPECT_EQ(machine.temperature_celsius, 61.5);
  EXPECT_FALSE(machine.frequency_hertz);
  EXPECT_THAT(machine.governors, ElementsAre("ondemand"));
  EXPECT_THAT(machine.throttled, ElementsAre("under_voltage"));
  EXPECT_EQ(machine.throttle_events, 3U);
  EXPECT_EQ(machine.netem_problem, "not allowed");
  EXPECT_EQ(machine.load.busy, Nanoseconds(77));
  EXPECT_EQ(machine.load.processors, 4);
  EXPECT_EQ(machine.load.load, 1.5);
  EXPECT_EQ(machine.quota_periods, 9U);
  EXPECT_EQ(machine.throttled_periods, 8U);
  EXPECT_EQ(observation.other_coordinators, 2);
  EXPECT_EQ(observation.other_pipelines, 5);
}

TEST(Observations, WhatNoDeviceCanTellIsCorrupt) {
  const std::vector<std::function<void(v1::ObserveReply&)>> lies{
      [](v1::ObserveReply& reply) { reply.set_clock_ns(-1); },
      [](v1::ObserveReply& reply) { reply.set_cpu_ns(std::numeric_limits<std::int64_t>::max()); },
      [](v1::ObserveReply& reply) { reply.mutable_stages(0)->mutable_wait()->add_counts(1); },
      [](v1::ObserveReply& reply) { reply.mutable_stages(0)->clear_compute(); },
      [](v1::ObserveReply& reply) { reply.mutable_stages(0)->mutable_compute()->set_sum_ns(-5); },
      [](v1::ObserveReply& reply) {
        reply.mutable_stages(0)->set_receiving_ns(std::numeric_limits<std::int64_t>::min());
      },
      [](v1::ObserveReply& reply) { reply.mutable_stages(0)->set_sending_ns(-1); },
      [](v1::ObserveReply& reply) { reply.mutable_stages(0)->set_round_trip_ns(-1); },
      [](v1::ObserveReply& reply) {
        const v1::StageActivity one = reply.stages(0);
        for (int i = 0; i < 1024; ++i) *reply.add_stages() = one;
      },
  };
  for (std::size_t i = 0; i < lies.size(); ++i) {
    v1::ObserveReply reply = good_reply();
    lies[i](reply);
    const auto observation = observation_of(reply);
    ASSERT_FALSE(observation) << i;
    EXPECT_EQ(observation.error().code, ErrorCode::kCorrupt) << i;
  }
}

TEST(Observations, ProcessorTimesThatNoMachineHasAreNotKnown) {
  for (const auto& lie : std::vector<std::function<void(v1::MachineState&)>>{
           [](v1::MachineState& machine) { machine.set_processors_ns(-1); },
           [](v1::MachineState& machine) { machine.set_processors(0); },
           [](v1::MachineState& machine) { machine.set_processors(1 << 30); }}) {
    v1::ObserveReply reply = good_reply();
    lie(*reply.mutable_machine());
    EXPECT_EQ(observation_of(reply).value().machine.load.processors, 0);
  }
}

TEST(Observations, WordsAreFitForATerminalAndFiguresAreNumbers) {
  v1::ObserveReply reply = good_reply();
  reply.mutable_stages(0)->set_model("\x1b]0;owned\x07 two\nlines");
  reply.mutable_stages(0)->mutable_status()->set_failure(std::string(100'000, 'x'));
  reply.mutable_machine()->set_temperature_celsius(std::numeric_limits<double>::quiet_NaN());
  reply.mutable_machine()->set_frequency_hertz(std::numeric_limits<double>::infinity());
  for (int i = 0; i < 10'000; ++i) reply.mutable_machine()->add_throttled("cause");
  const Observation observation = observation_of(reply).value();
  EXPECT_EQ(observation.stages[0].model, " ]0;owned  two lines");
  EXPECT_LT(observation.stages[0].failure.size(), 1000U);
  EXPECT_FALSE(observation.machine.temperature_celsius);
  EXPECT_FALSE(observation.machine.frequency_hertz);
  EXPECT_LT(observation.machine.throttled.size(), 100U);
}

}  // namespace
}  // namespace pareto::cluster
