// Sums that outlive the stages that made them.
#include "daemon/stage/stage_meter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace pareto::daemon {
namespace {

using std::chrono::milliseconds;

TEST(StageMeters, WhatAStageCountedStaysWhenItIsGone) {
  StageMeters meters;
  auto first = meters.open(2);
  first->answered = 5;
  first->failed = 1;
  first->bytes_sent = 100;
  first->in_flight = 3;
  first->round_trip = 1000;
  first->profiled_compute = 2000;
  first->broken = true;
  first->compute.record(milliseconds(3));
  ASSERT_EQ(meters.read().size(), 1U);
  const MeterReading with = meters.read().at(0);
  EXPECT_EQ(with.place, (StagePlace{2, 0}));
  EXPECT_EQ(with.in_flight, 3U);
  EXPECT_EQ(with.round_trip, Nanoseconds(1000));
  EXPECT_EQ(with.profiled_compute, Nanoseconds(2000));
  first.reset();
  const MeterReading without = meters.read().at(0);
  EXPECT_EQ(without.answered, 5U);
  EXPECT_EQ(without.failed, 1U);
  EXPECT_EQ(without.bytes_sent, 100U);
  EXPECT_EQ(without.broken_stages, 1U);
  EXPECT_EQ(without.compute.total(), 1U);
  EXPECT_EQ(without.in_flight, 0U);
  EXPECT_FALSE(without.round_trip);
  EXPECT_FALSE(without.profiled_compute);

  const auto second = meters.open(2);
  second->answered = 2;
  ASSERT_EQ(meters.read().size(), 1U);
  EXPECT_EQ(meters.read().at(0).answered, 7U);
}

TEST(StageMeters, WorkersAreAddedUpByNumber) {
  StageMeters meters;
  auto two = meters.open(0);
  EXPECT_TRUE(meters.read().at(0).workers.empty()) << "it has no schedule";
  two->workers.add({milliseconds(5), milliseconds(1)});
  two->workers.add({milliseconds(2), milliseconds(0)});
  EXPECT_EQ(two->workers.read(), (std::vector<Nanoseconds>{milliseconds(7), milliseconds(1)}));
  two.reset();
  const auto three = meters.open(0);
  three->workers.add(std::vector<Nanoseconds>(3, milliseconds(1)));
  EXPECT_EQ(meters.read().at(0).workers,
            (std::vector<Nanoseconds>{milliseconds(8), milliseconds(2), milliseconds(1)}));
  three->workers.add(std::vector<Nanoseconds>(1000, milliseconds(1)));
  EXPECT_EQ(meters.read().at(0).workers.size(), 64U) << "a pool has no more threads";
}

TEST(StageMeters, AnEndedStageHasNothingInFlight) {
  StageMeters meters;
  const auto meter = meters.open(0);
  meter->in_flight = 4;
  meter->round_trip = 1000;
  meter->ended = true;
  EXPECT_EQ(meters.read().at(0).in_flight, 0U);
  EXPECT_FALSE(meters.read().at(0).round_trip);
}

TEST(StageMeters, StagesOfOneNumberTakeTheFirstFreeSlot) {
  StageMeters meters;
  auto a = meters.open(1);
  const auto b = meters.open(1);
  const auto other = meters.open(0);
  EXPECT_EQ(meters.read().size(), 3U);
  a->answered = 1;
  a.reset();
  const auto c = meters.open(1);
  c->answered = 10;
  const auto readings = meters.read();
  ASSERT_EQ(readings.size(), 3U);
  EXPECT_EQ(readings[1].place, (StagePlace{1, 0}));
  EXPECT_EQ(readings[1].answered, 11U);
  EXPECT_EQ(readings[2].place, (StagePlace{1, 1}));
}

TEST(StageMeters, PlacesAreBoundedAndNothingIsLost) {
  StageMeters meters;
  std::vector<std::shared_ptr<StageMeter>> open;
  constexpr std::size_t kOver = 44;
  for (std::size_t i = 0; i < StageMeters::kMostPlaces + kOver; ++i) {
    open.push_back(meters.open(static_cast<std::uint32_t>(i * 7919)));
    open.back()->answered = 1;
    open.back()->round_trip = 1000;
  }
  const auto readings = meters.read();
  ASSERT_EQ(readings.size(), StageMeters::kMostPlaces + 1);
  EXPECT_EQ(readings.back().place, StageMeters::kShared);
  EXPECT_EQ(readings.back().answered, kOver);
  EXPECT_FALSE(readings.back().round_trip);
  open.clear();
  EXPECT_EQ(meters.read().back().answered, kOver);
  // Places are not freed, only taken again.
  for (std::uint32_t stage = 1; stage < 1000; ++stage) {
    if (stage % 7919 != 0) meters.open(stage)->answered = 1;
  }
  EXPECT_EQ(meters.read().size(), StageMeters::kMostPlaces + 1);
  EXPECT_EQ(meters.read().back().answered, kOver + 999);
}

TEST(StageMeters, SumsNeverFallWhileStagesComeAndGo) {
  StageMeters meters;
  std::atomic<bool> done{false};
  std::jthread pipelines([&] {
    for (int i = 0; i < 2'000; ++i) {
      const auto meter = meters.open(0);
      ++meter->answered;
      meter->compute.record(milliseconds(1));
    }
    done = true;
  });
  std::uint64_t before = 0;
  while (!done) {
    for (const MeterReading& reading : meters.read()) {
      ASSERT_GE(reading.answered, before);
      before = reading.answered;
    }
  }
  pipelines.join();
  EXPECT_EQ(meters.read().at(0).answered, 2'000U);
  EXPECT_EQ(meters.read().at(0).compute.total(), 2'000U);
}

TEST(StageMeters, AMeterMayOutliveThem) {
  std::shared_ptr<StageMeter> left;
  {
    StageMeters meters;
    left = meters.open(0);
  }
  ++left->answered;
  left.reset();
}

}  // namespace
}  // namespace pareto::daemon
