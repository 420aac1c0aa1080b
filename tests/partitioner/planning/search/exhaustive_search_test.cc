// What the others are judged by, judged itself: it adds figures up as it goes, evaluate() looks at
// one whole placement after the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/planning/search/point_front.h"
#include "partitioner/planning/search/search_strategy.h"
#include "partitioner/planning/search/strategies.h"
#include "tests/support/front_agreement.h"
#include "tests/support/objectives.h"
#include "tests/support/random_costs.h"

namespace pareto::search {
namespace {

/// The front of all placements that evaluate() takes.
class Plain {
 public:
  Plain(const planning::CostInputs& inputs, const SearchOptions& options)
      : inputs_(inputs), options_(options), front_(options.windows, options.also) {}

  std::vector<FrontPoint> front() {
    add_pipelines({});
    planning::Placement turns;
    turns.replicated = true;
    if (options_.replicas) add_turns(turns, 0);
    return with_placements(front_, witnesses_, inputs_, options_).value();
  }

 private:
  void add_pipelines(const planning::Placement& so_far) {
    const int begin = so_far.stages.empty() ? 0 : so_far.stages.back().end;
    const int from = so_far.stages.empty() ? inputs_.coordinator() : so_far.stages.back().device;
    if (begin == inputs_.positions()) {
      for_each_codec(so_far, from, inputs_.coordinator(), [this](planning::Placement whole) {
        add_placement(inputs_, options_, std::move(whole), front_, witnesses_);
      });
      return;
    }
    for (int device = 0; device < inputs_.coordinator(); ++device) {
      for (int end = begin + 1; end <= inputs_.positions(); ++end) {
        for_each_codec(so_far, from, device, [&](planning::Placement more) {
          more.stages.push_back({device, begin, end});
          add_pipelines(more);
        });
      }
    }
  }

  void add_turns(const planning::Placement& so_far, int device) {
    if (device == inputs_.coordinator()) {
      if (so_far.stages.size() > 1) {
        add_placement(inputs_, options_, so_far, front_, witnesses_);
      }
      return;
    }
    add_turns(so_far, device + 1);
    for_each_codec(so_far, inputs_.coordinator(), device, [&](const planning::Placement& there) {
      for_each_codec(there, device, inputs_.coordinator(), [&](planning::Placement back) {
        back.stages.push_back({device, 0, inputs_.positions()});
        add_turns(back, device + 1);
      });
    });
  }

  template <typename Then>
  void for_each_codec(const planning::Placement& so_far, int from, int to, Then then) {
    if (from == to) return;
    for (int codec = 0; codec < planning::codec_count(inputs_.link(from, to)); ++codec) {
      planning::Placement more = so_far;
      more.codecs.push_back(codec);
      then(std::move(more));
    }
  }

  const planning::CostInputs& inputs_;
  const SearchOptions& options_;
  PointFront front_;
  std::vector<planning::Placement> witnesses_;
};

TEST(Exhaustive, FindsTheFrontOfAllThatCanBeEvaluated) {
  std::mt19937_64 random(19);
  std::size_t largest = 0;
  std::size_t in_turns = 0;
  auto choices = test::singles_and_pairs();
  choices.emplace_back();
  for (const AlsoObjectives& also : choices) {
    for (int i = 0; i < 40; ++i) {
      test::RandomCosts of_all = test::random_options(random, 3, 5);
      of_all.media = i % 3;
      of_all.cards = i % 2 * 0.5;
      const planning::CostInputs inputs = test::random_costs(of_all, random);
      SearchOptions options;
      options.also = also;
      options.replicas = i % 4 != 0;
      if (i % 5 == 0) options.windows = {2, 4};
      const auto front = exhaustive_search()->search(inputs, options);
      ASSERT_TRUE(front) << front.error().message;
      ASSERT_EQ(test::difference(*front, Plain(inputs, options).front()), "") << "instance " << i;
      ASSERT_EQ(test::flaw(*front, inputs, options), "") << "instance " << i;
      largest = std::max(largest, front->size());
      in_turns += static_cast<std::size_t>(std::ranges::count_if(
          *front, [](const FrontPoint& point) { return point.placement.replicated; }));
    }
  }
  EXPECT_GT(largest, 5U);
  EXPECT_GT(in_turns, 20U);
}

TEST(Exhaustive, RefusesWhatWouldTakeYears) {
  const auto front = exhaustive_search()->search(test::model_like_costs(8, 100, 1), {});
  ASSERT_FALSE(front);
  EXPECT_EQ(front.error().code, ErrorCode::kExhausted);
}

TEST(Exhaustive, CountsTheWaysOverItsLinks) {
  planning::CostInputs inputs = test::model_like_costs(4, 40, 1);
  for (auto& row : inputs.links) {
    for (planning::LinkCosts& link : row) link.codecs.resize(6);
  }
  const auto front = exhaustive_search()->search(inputs, {});
  ASSERT_FALSE(front);
  EXPECT_EQ(front.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(front.error().message, testing::HasSubstr("fewer transports and codecs"));
}

TEST(Exhaustive, OnADeviceAloneLooksAtItsWholeModel) {
  const planning::CostInputs inputs = test::model_like_costs(1, 10, 1);
  const auto front = exhaustive_search()->search(inputs, {});
  ASSERT_TRUE(front) << front.error().message;
  for (const FrontPoint& point : *front) {
    EXPECT_THAT(point.placement.stages, testing::ElementsAre(planning::PlacedStage{0, 0, 10}));
  }
  EXPECT_FALSE(front->empty());
}

}  // namespace
}  // namespace pareto::search
