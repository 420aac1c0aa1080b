#include "coordinator/sweep/round_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/sweep/measuring_rules.h"

namespace pareto::sweep {
namespace {

using std::chrono_literals::operator""ms;
using testing::ElementsAre;

load::RequestSample taking(std::chrono::milliseconds latency) {
  load::RequestSample sample;
  sample.completed = sample.sent + latency;
  return sample;
}

/// A request that passed one stage, of the replica whose turn it was.
load::RequestSample computed(std::uint64_t request, Nanoseconds compute) {
  load::RequestSample sample = taking(10ms);
  sample.request = request;
  sample.timeline.resize(1);
  sample.timeline[0].compute = compute;
  return sample;
}

TEST(LatenciesOf, ATurnIsAsSlowAsItsSlowestRequest) {
  const std::vector<load::RequestSample> samples{taking(90ms), taking(20ms), taking(30ms),
                                                 taking(70ms), taking(5ms)};
  EXPECT_THAT(latencies_of(samples, 1), ElementsAre(90, 20, 30, 70, 5));
  EXPECT_THAT(latencies_of(samples, 2), ElementsAre(90, 70)) << "the last turn is not whole";
  EXPECT_THAT(latencies_of({}, 2), ElementsAre());
}

TEST(LatenciesOf, ASlowReplicaIsNoPauseOfAQuickOne) {
  std::vector<load::RequestSample> turns;
  for (int i = 0; i < 6; ++i)
    turns.insert(turns.end(), {taking(90ms), taking(90ms), taking(200ms)});
  EXPECT_TRUE(kMeasuringRules.pause.is_seen_in(latencies_of(turns, 1)));
  EXPECT_FALSE(kMeasuringRules.pause.is_seen_in(latencies_of(turns, 3)));
}

TEST(SamplesOf, EachReplicaHasItsOwnRequests) {
  load::LoadResult result;
  for (std::uint64_t i = 0; i < 4; ++i) result.samples.push_back(computed(i, i * 1ms));
  const auto round = samples_of(result, 2, 2);
  ASSERT_TRUE(round) << round.error().message;
  ASSERT_EQ(round->stages.size(), 2U);
  EXPECT_THAT(round->stages[0].compute_ms, ElementsAre(0, 2));
  EXPECT_THAT(round->stages[1].compute_ms, ElementsAre(1, 3));
  EXPECT_EQ(round->sink_receive_ms.size(), 4U);
}

TEST(SamplesOf, ATimelineOfAnotherLengthIsCorrupt) {
  load::LoadResult result;
  result.samples.push_back(computed(0, 1ms));
  const auto round = samples_of(result, 2, 1);
  ASSERT_FALSE(round);
  EXPECT_EQ(round.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(round.error().message, "a result passed 1 stages, not 2");
}

TEST(AddBusySamples, CountsProcessorTimeThatOtherThreadsOfTheStageTook) {
  load::RequestSample sample = computed(0, 10ms);
  sample.timeline[0].receive_cpu = 2ms;
  sample.timeline[0].send_cpu = 1ms;
  results::TrialRound round;
  round.stages.resize(1);
  add_busy_samples({sample}, 1, round);
  sample.timeline[0].compute_cpu = 9ms;
  add_busy_samples({sample}, 1, round);
  EXPECT_THAT(round.stages[0].busy_ms, ElementsAre(7, 9));
}

TEST(BottleneckMs, IsTheSlowestStageOrLinkPerRequest) {
  results::TrialRound round;
  round.stages.resize(2);
  round.stages[0].compute_ms = {4, 4, 90};
  round.stages[1].receive_ms = {12};
  round.sink_receive_ms = {7};
  EXPECT_EQ(bottleneck_ms(round, 1), 12);
  EXPECT_EQ(bottleneck_ms(round, 3), 7) << "a replica has a third of the requests, the sink all";
}

}  // namespace
}  // namespace pareto::sweep
