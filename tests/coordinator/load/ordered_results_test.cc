// Results of several pipelines, delivered in the order of their requests.
#include "coordinator/load/ordered_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace pareto::load {
namespace {

using testing::ElementsAre;

class Places final : public RequestSink {
 public:
  void done(StreamResult result) override { places.push_back(result.place); }
  std::vector<std::uint64_t> places;
};

StreamResult at(std::uint64_t place) {
  StreamResult result;
  result.place = place;
  return result;
}

TEST(OrderedResults, HoldsWhatComesBeforeItsTurn) {
  Places sink;
  OrderedResults results(sink);
  for (const std::uint64_t place : {2U, 1U, 4U}) results.done(at(place));
  EXPECT_THAT(sink.places, ElementsAre());
  EXPECT_EQ(results.held(), 3U);
  results.done(at(0));
  EXPECT_THAT(sink.places, ElementsAre(0, 1, 2));
  EXPECT_EQ(results.delivered(), 3U);
  EXPECT_EQ(results.held(), 1U);
}

TEST(OrderedResults, DeliversEachOnceInWhateverOrderTheyCome) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    Places sink;
    OrderedResults results(sink);
    std::vector<std::uint64_t> come(40);
    std::iota(come.begin(), come.end(), 0);
    // Some come twice.
    come.insert(come.end(), {3, 17, 39});
    std::ranges::shuffle(come, random);
    for (const std::uint64_t place : come) results.done(at(place));
    ASSERT_EQ(sink.places.size(), 40U);
    EXPECT_TRUE(std::ranges::is_sorted(sink.places));
    EXPECT_EQ(results.held(), 0U);
  }
}

TEST(OrderedResults, MeasuresTheGapOfAChange) {
  Places sink;
  OrderedResults results(sink);
  results.done(at(0));
  results.begin_gap();
  EXPECT_FALSE(results.end_gap().gap) << "none was delivered meanwhile";
  results.done(at(1));
  results.begin_gap();
  results.done(at(2));
  const OrderedResults::Rhythm rhythm = results.end_gap();
  EXPECT_TRUE(rhythm.gap);
  EXPECT_TRUE(rhythm.period);
  EXPECT_FALSE(results.end_gap().gap) << "a gap is told once";
}

}  // namespace
}  // namespace pareto::load
