// Threads that wait for places, against a recursion written down from the daemon's own code.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/partitioner/planning/simulation/scenarios.h"

namespace pareto::simulation {
namespace {

/// Max-plus: when each thread begins, finishes and hands over message n, from the messages before
/// it.
class Recursion {
 public:
  /// Makes a recursion for threads in order: what each takes of each message, and the places before
  /// it (the source's are not looked at).
  Recursion(std::vector<std::vector<std::int64_t>> times, std::vector<std::int64_t> places,
            int window)
      : times_(std::move(times)), places_(std::move(places)), window_(window) {
    const std::size_t count = times_[0].size();
    begin_.assign(times_.size(), std::vector<std::int64_t>(count));
    handed_.assign(times_.size() + 1, std::vector<std::int64_t>(count));
    for (std::size_t n = 0; n < count; ++n) follow(n);
  }
  std::int64_t latency(std::size_t n) const { return handed_.back()[n] - begin_[0][n]; }
  std::int64_t completed(std::size_t n) const { return handed_.back()[n]; }

 private:
  void follow(std::size_t n) {
    const auto window = static_cast<std::size_t>(window_);
    std::int64_t there = n >= window ? handed_.back()[n - window] : 0;
    for (std::size_t j = 0; j < times_.size(); ++j) {
      begin_[j][n] = n == 0 ? there : std::max(there, handed_[j + 1][n - 1]);
      there = begin_[j][n] + times_[j][n];
      if (j + 1 < times_.size()) {
        // Its place is free once the message that many before has been begun.
        const auto places = static_cast<std::size_t>(places_[j + 1]);
        if (n >= places) there = std::max(there, begin_[j + 1][n - places]);
      }
      handed_[j + 1][n] = there;
    }
  }

  const std::vector<std::vector<std::int64_t>> times_;
  const std::vector<std::int64_t> places_;
  const int window_;
  std::vector<std::vector<std::int64_t>> begin_;
  /// Times at which messages were handed to thread j; the last: to nobody, completed.
  std::vector<std::vector<std::int64_t>> handed_;
};

/// All parts of requests from a recording that is replayed in order; every device has a core a
/// thread.
struct Replay {
  Scenario scenario;
  std::vector<std::int64_t> places;
};

Replay replay(int stages, int queue, int link_places, int window, std::uint64_t seed) {
  constexpr std::size_t kRequests = 1000;
  Replay made;
  made.scenario = chain(std::vector<Duration>(static_cast<std::size_t>(stages)), window);
  made.scenario.requests = kRequests;
  made.scenario.warm_up = Nanoseconds(1);  // everything is measured
  for (DeviceClass& device : made.scenario.devices) device.cores = 3;
  PipelineClass& pipeline = made.scenario.pipelines[0];
  auto recording = std::make_shared<Recording>();
  recording->columns = 3 * static_cast<std::size_t>(stages) + 2;
  recording->block = 1e18;
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> time(1);
  for (std::size_t i = 0; i < kRequests * recording->columns; ++i) {
    recording->nanoseconds.push_back(1 + static_cast<std::int64_t>(time(random) * 1e6));
  }
  int column = 0;
  pipeline.source.column = column++;
  made.places = {0};
  for (Stage& stage : pipeline.stages) {
    stage.queue = queue;
    stage.link.places = link_places;
    stage.receive.column = column++;
    stage.compute.column = column++;
    stage.send.column = column++;
    made.places.insert(made.places.end(), {link_places, queue, queue});
  }
  pipeline.result.places = link_places;
  pipeline.sink.column = column++;
  made.places.push_back(link_places);
  pipeline.recording = recording;
  made.scenario.seed = seed;
  return made;
}

std::vector<std::vector<std::int64_t>> times_from(const Recording& recording, std::size_t first) {
  std::vector<std::vector<std::int64_t>> times(recording.columns);
  for (std::size_t n = 0; n < recording.rows(); ++n) {
    const std::size_t row = (first + n) % recording.rows();
    for (std::size_t j = 0; j < recording.columns; ++j) {
      times[j].push_back(recording.nanoseconds[row * recording.columns + j]);
    }
  }
  return times;
}

TEST(Backpressure, IsThatOfTheRecursion) {
  struct Shape {
    int stages;
    int queue;
    int places;
    int window;
  };
  std::uint64_t seed = 0;
  for (const Shape& shape : {Shape{1, 4, 8, 30}, Shape{2, 1, 1, 40}, Shape{3, 1, 1, 5},
                             Shape{3, 4, 2, 100}, Shape{2, 2, 1, 1}, Shape{4, 1, 3, 64}}) {
    Replay made = replay(shape.stages, shape.queue, shape.places, shape.window, ++seed);
    const auto outcome = simulate(made.scenario);
    ASSERT_TRUE(outcome) << outcome.error().message;
    const Recording& recording = *made.scenario.pipelines[0].recording;
    // The row that comes first is the only thing not known; one of them has to give both figures
    // to the nanosecond.
    int fitting = 0;
    for (std::size_t first = 0; first < recording.rows() && fitting == 0; ++first) {
      std::int64_t alone = 0;
      for (std::size_t j = 0; j < recording.columns; ++j) {
        alone += recording.nanoseconds[first * recording.columns + j];
      }
      if (static_cast<double>(alone) / 1e6 < outcome->pipelines[0].latency.least_ms) continue;
      const Recursion recursion(times_from(recording, first), made.places, shape.window);
      if (recursion.completed(recording.rows() - 1) != outcome->simulated.count()) continue;
      double sum = 0;
      for (std::size_t n = 0; n < recording.rows(); ++n) {
        sum += static_cast<double>(recursion.latency(n));
      }
      EXPECT_NEAR(outcome->pipelines[0].latency.mean_ms,
                  sum / static_cast<double>(recording.rows()) / 1e6, 1e-9);
      ++fitting;
    }
    EXPECT_EQ(fitting, 1) << shape.stages << " stages, queue " << shape.queue << ", places "
                          << shape.places << ", window " << shape.window;
  }
}

TEST(Backpressure, AFullQueueReachesTheSource) {
  // The second stage is the slow one: all places before it are taken, and who came before waits.
  Scenario scenario = chain({fixed(milliseconds(1)), fixed(milliseconds(10))}, 0);
  scenario.pipelines[0].arrivals.kind = ArrivalKind::kPeriodic;
  scenario.pipelines[0].arrivals.period = milliseconds(5);
  for (Stage& stage : scenario.pipelines[0].stages) stage.link.places = 2;
  scenario.requests = 0;
  scenario.duration = std::chrono::seconds(100);
  scenario.warm_up = std::chrono::seconds(10);
  const auto outcome = simulate(scenario);
  ASSERT_TRUE(outcome);
  const PipelineOutcome& pipeline = outcome->pipelines[0];
  EXPECT_EQ(pipeline.stages[1].queue_most, 4);
  EXPECT_NEAR(pipeline.stages[1].queue_mean, 4, 0.01);
  EXPECT_EQ(pipeline.stages[0].queue_most, 4);
  // All three threads of the first wait for nearly all the time, of the second only the one that
  // receives.
  EXPECT_NEAR(pipeline.stages[0].blocked, 1, 0.07);
  EXPECT_NEAR(pipeline.stages[1].blocked, 1, 0.01);
  EXPECT_NEAR(pipeline.requests_per_s, 100, 0.1);
  // Half of what comes stays at the source.
  EXPECT_NEAR(pipeline.in_flight, 100 * 55, 100);
  EXPECT_GT(pipeline.latency.most_ms, 40'000);
}

TEST(Backpressure, WhatGoesTogetherStaysTogether) {
  // One stage takes what the other does not: the sum is 10 ms of each request, whichever rows are
  // drawn.
  Scenario scenario = chain({Duration{}, Duration{}}, 1);
  auto recording = std::make_shared<Recording>();
  recording->columns = 2;
  recording->nanoseconds = {1'000'000, 9'000'000, 5'000'000, 5'000'000, 8'000'000, 2'000'000};
  PipelineClass& pipeline = scenario.pipelines[0];
  pipeline.stages[0].compute.column = 0;
  pipeline.stages[1].compute.column = 1;
  for (const double block : {1.0, 4.0}) {
    recording->block = block;
    pipeline.recording = recording;
    const auto outcome = simulate(scenario);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->pipelines[0].latency.least_ms, 10);
    EXPECT_EQ(outcome->pipelines[0].latency.most_ms, 10);
    EXPECT_NEAR(outcome->pipelines[0].stages[0].computing, 14.0 / 30, 0.01);
  }
}

TEST(Backpressure, BlocksOfRowsFollowEachOther) {
  // Rows 1, 2, 1, 2, … of 1 and 3 ms: with blocks of one, two neighbours are alike half the time;
  // in their order never. A window of two through one stage takes as long as a request and the one
  // before it.
  Scenario scenario = chain({Duration{}}, 2);
  auto recording = std::make_shared<Recording>();
  recording->columns = 1;
  recording->nanoseconds = {1'000'000, 3'000'000};
  PipelineClass& pipeline = scenario.pipelines[0];
  pipeline.stages[0].compute.column = 0;
  pipeline.recording = recording;
  const auto one = simulate(scenario);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->pipelines[0].latency.most_ms, 6);
  recording->block = 1e18;
  const auto all = simulate(scenario);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->pipelines[0].latency.most_ms, 4);
  EXPECT_EQ(all->pipelines[0].latency.least_ms, 4);
}

}  // namespace
}  // namespace pareto::simulation
