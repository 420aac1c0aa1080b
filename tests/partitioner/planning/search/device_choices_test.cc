#include "partitioner/planning/search/device_choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "partitioner/planning/search/strategies.h"
#include "tests/support/front_agreement.h"
#include "tests/support/objectives.h"
#include "tests/support/random_costs.h"

namespace pareto::search {
namespace {

using planning::CostInputs;
using testing::AllOf;
using testing::HasSubstr;

/// Inputs, and the costs of their devices by each choice.
struct Instance {
  CostInputs inputs;
  DeviceChoices choices;
};

/// Returns an instance whose choices differ in times alone, as settings of one device do.
Instance random_instance(const test::RandomCosts& options, std::size_t choices,
                         std::mt19937_64& random) {
  Instance made{test::random_costs(options, random), {}};
  made.choices.push_back(made.inputs.devices);
  while (made.choices.size() < choices) {
    const CostInputs others = test::random_costs(options, random);
    std::vector<planning::DeviceCosts> devices = made.inputs.devices;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      static_cast<planning::StageCosts&>(devices[i]) = others.devices[i];
      devices[i].busy = others.devices[i].busy;
    }
    made.choices.push_back(std::move(devices));
  }
  return made;
}

/// Every plan of an instance by plain recursion: each stage takes a device and one of its choices.
class EveryPlan {
 public:
  EveryPlan(const Instance& instance, const SearchOptions& options)
      : instance_(instance), options_(options) {}

  /// Returns the points that no other point beats, in the order of a search.
  std::vector<FrontPoint> front() {
    add_stage(0);
    if (options_.replicas) add_turns(0);
    std::ranges::sort(best_, [](const FrontPoint& a, const FrontPoint& b) {
      if (a.point.latency != b.point.latency) return a.point.latency < b.point.latency;
      if (a.point.window != b.point.window) return a.point.window > b.point.window;
      return a.also < b.also;
    });
    return best_;
  }

 private:
  void add_stage(int begin) {
    if (begin == instance_.inputs.positions()) return judge();
    for_each_free_device(0, [&](int device) {
      for (int end = begin + 1; end <= instance_.inputs.positions(); ++end) {
        placement_.stages.push_back({device, begin, end});
        add_stage(end);
        placement_.stages.pop_back();
      }
    });
  }

  /// Adds the whole model on any further devices, from `least` on.
  void add_turns(int least) {
    placement_.replicated = true;
    if (placement_.stages.size() > 1) judge();
    for_each_free_device(least, [&](int device) {
      placement_.stages.push_back({device, 0, instance_.inputs.positions()});
      add_turns(device + 1);
      placement_.stages.pop_back();
    });
  }

  /// Calls visit(device) with every choice of every device that has no stage yet.
  template <typename Visit>
  void for_each_free_device(int least, Visit visit) {
    for (int device = least; device < instance_.inputs.coordinator(); ++device) {
      const auto at = static_cast<std::size_t>(device);
      if (used_[at]) continue;
      used_[at] = true;
      for (const auto& devices : instance_.choices) {
        inputs_.devices[at] = devices[at];
        visit(device);
      }
      used_[at] = false;
    }
  }

  void judge() {
    const auto evaluation = planning::evaluate(inputs_, placement_);
    if (!evaluation) return;
    for (int window = options_.windows.least; window <= options_.windows.most; ++window) {
      FrontPoint one;
      one.point = planning::at_window(*evaluation, window);
      for (std::size_t i = 0; i < options_.also.size(); ++i) {
        one.also[i] =
            planning::value_at(*options_.also[i], evaluation->value(*options_.also[i]), one.point);
      }
      keep(one);
    }
  }

  static bool as_good(const FrontPoint& a, const FrontPoint& b) {
    return a.point.latency <= b.point.latency &&
           a.point.window * b.point.latency.count() >= b.point.window * a.point.latency.count() &&
           std::ranges::equal(a.also, b.also, std::ranges::less_equal{});
  }

  void keep(const FrontPoint& one) {
    const auto beats = [&](const FrontPoint& other) { return as_good(other, one); };
    if (std::ranges::any_of(best_, beats)) return;
    std::erase_if(best_, [&](const FrontPoint& other) { return as_good(one, other); });
    best_.push_back(one);
  }

  const Instance& instance_;
  const SearchOptions& options_;
  CostInputs inputs_ = instance_.inputs;
  planning::Placement placement_;
  std::vector<bool> used_ = std::vector<bool>(instance_.inputs.devices.size(), false);
  std::vector<FrontPoint> best_;
};

/// Searches all assignments of an instance by a strategy.
AssignedFront search_all(const Instance& instance, const SearchOptions& options,
                         const SearchStrategy& strategy) {
  AssignedInputs inputs(instance.inputs, instance.choices);
  const auto all = assignments(instance.inputs.devices.size(), instance.choices.size());
  auto front = search_assignments(strategy, inputs, all.value(), options);
  EXPECT_TRUE(front) << front.error().message;
  return front ? *std::move(front) : AssignedFront();
}

/// Compares the front with that of every plan, and each plan with its own figures.
void expect_exact(const Instance& instance, const SearchOptions& options, const std::string& what) {
  const std::vector<FrontPoint> expected = EveryPlan(instance, options).front();
  for (const SearchStrategy* const strategy : {exact_search(), exhaustive_search()}) {
    const AssignedFront front = search_all(instance, options, *strategy);
    ASSERT_EQ(test::difference(front.points, expected), "") << what << ", " << strategy->name();
    AssignedInputs inputs(instance.inputs, instance.choices);
    for (std::size_t i = 0; i < front.points.size(); ++i) {
      ASSERT_EQ(test::flaw({front.points[i]}, inputs.under(front.assignments[i]), options), "")
          << what << ", " << strategy->name();
    }
  }
}

TEST(DeviceChoices, TheFrontIsThatOfEveryPlanWithEveryChoice) {
  std::mt19937_64 random(36);
  SearchOptions options;
  options.windows = {1, 6};
  std::size_t mixed = 0;
  for (int i = 0; i < 150; ++i) {
    test::RandomCosts costs = test::random_options(random, 3, 5);
    costs.codecs = 0;
    const Instance instance = random_instance(costs, 2 + static_cast<std::size_t>(i % 2), random);
    options.replicas = i % 3 > 0;
    expect_exact(instance, options, fmt::format("instance {}", i));
    const AssignedFront front = search_all(instance, options, *exact_search());
    for (std::size_t j = 0; j < front.points.size(); ++j) {
      std::set<std::size_t> choices;
      for (const planning::PlacedStage& stage : front.points[j].placement.stages) {
        choices.insert(front.assignments[j][static_cast<std::size_t>(stage.device)]);
      }
      mixed += choices.size() > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(mixed, 10U) << "hardly a plan has different choices: too easy to tell anything";
}

TEST(DeviceChoices, ByAThirdObjectiveToo) {
  std::mt19937_64 random(37);
  SearchOptions options;
  options.windows = {1, 4};
  for (const char* also : {"energy", "memory"}) {
    options.also = {&test::objective(also)};
    for (int i = 0; i < 40; ++i) {
      test::RandomCosts costs = test::random_options(random, 3, 4);
      costs.codecs = 0;
      expect_exact(random_instance(costs, 2, random), options, fmt::format("{} {}", also, i));
    }
  }
}

TEST(DeviceChoices, OneChoiceIsTheSearchItself) {
  std::mt19937_64 random(38);
  const Instance instance = random_instance(test::sized_costs(3, 10), 1, random);
  const AssignedFront front = search_all(instance, {}, *exact_search());
  EXPECT_EQ(test::difference(front.points, exact_search()->search(instance.inputs, {}).value()),
            "");
  for (const Assignment& one : front.assignments) EXPECT_EQ(one, Assignment({0, 0, 0}));
}

TEST(DeviceChoices, OfEqualChoicesTheFirstIsKept) {
  std::mt19937_64 random(39);
  Instance instance = random_instance(test::sized_costs(2, 6), 1, random);
  instance.choices.push_back(instance.choices.front());
  const AssignedFront front = search_all(instance, {}, *exact_search());
  ASSERT_FALSE(front.points.empty());
  for (const Assignment& one : front.assignments) EXPECT_EQ(one, Assignment({0, 0}));
}

TEST(DeviceChoices, AssignmentsAreAllOfThemInOrder) {
  EXPECT_EQ(assignments(2, 2).value(), (std::vector<Assignment>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ(assignments(3, 1).value(), (std::vector<Assignment>{{0, 0, 0}}));
  EXPECT_EQ(assignments(8, 2).value().size(), kMostAssignments);
}

TEST(DeviceChoices, TooManyAssignmentsAreRefusedWithTheirNumber) {
  const auto refused = assignments(4, 9);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("9 choices on each of 4 devices"), HasSubstr("6561")));
  EXPECT_FALSE(assignments(1000, 1000)) << "more than any number can hold";
}

}  // namespace
}  // namespace pareto::search
