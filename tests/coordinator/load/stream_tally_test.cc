#include "coordinator/load/stream_tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::load {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

StreamResult took(milliseconds latency) {
  StreamResult result;
  result.latency = latency;
  return result;
}

TEST(LatencyCounts, QuantilesAreWithinAQuarterPercent) {
  LatencyCounts counts;
  for (int i = 1; i <= 1000; ++i) counts.add(milliseconds(i));
  EXPECT_NEAR(to_milliseconds(counts.quantile(0.5)), 500, 500 * 0.0025);
  EXPECT_NEAR(to_milliseconds(counts.quantile(0.99)), 990, 990 * 0.0025);
  EXPECT_NEAR(to_milliseconds(counts.quantile(0)), 1, 0.0025);
  EXPECT_NEAR(to_milliseconds(counts.quantile(1)), 1000, 1000 * 0.0025);
}

TEST(LatencyCounts, QuantilesAreDurationsThatWereAdded) {
  LatencyCounts counts;
  counts.add(std::chrono::microseconds(13'570));
  EXPECT_EQ(counts.quantile(0.5), std::chrono::microseconds(13'570));
}

TEST(StreamTally, SumsUpWhatBecameOfRequests) {
  StreamTally tally;
  EXPECT_EQ(tally.summary(), "0 requests, 0 failed");
  const TimePoint start{};
  for (int i = 1; i <= 10; ++i)
    tally.add(took(milliseconds(100)), false, start + i * milliseconds(100));
  tally.add(took({}), true, start);
  StreamResult left;
  left.sent = false;
  tally.add(left, true, start);
  EXPECT_THAT(tally.summary(),
              AllOf(HasSubstr("12 requests, 1 failed, 1 not sent; 10.0/s, latency "),
                    HasSubstr(" p50, "), HasSubstr(" p95, "), HasSubstr(" p99")));
  EXPECT_EQ(tally.latencies().total(), 10U);
  EXPECT_EQ(tally.counts().all(), 12U);
}

TEST(StreamTally, TellsOfTheLongestWhereOneWasSentAgain) {
  StreamTally tally;
  tally.add(took(milliseconds(5)), false, TimePoint{} + milliseconds(5));
  EXPECT_THAT(tally.summary(), Not(HasSubstr("again")));
  StreamResult again = took(milliseconds(9900));
  again.sent_again = 1;
  tally.add(again, false, TimePoint{} + milliseconds(9905));
  EXPECT_THAT(tally.summary(), HasSubstr(", 9900.00 the longest, 1 sent again"));
}

TEST(StreamTally, OneRequestHasNoRate) {
  StreamTally tally;
  StreamResult result;
  result.latency = std::chrono::microseconds(13570);
  tally.add(result, false, TimePoint{} + result.latency);
  EXPECT_EQ(tally.summary(), "1 request, 0 failed; latency 13.57 ms p50, 13.57 p95, 13.57 p99");
}

}  // namespace
}  // namespace pareto::load
