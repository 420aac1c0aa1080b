#include "partitioner/planning/tasks/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace pareto::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Tasks on one worker, each with a model of its own: time and deadline in ms, 0 is no deadline.
PlanRequest one_worker(const std::vector<std::pair<int, int>>& tasks) {
  PlanRequest request;
  request.workers.resize(1);
  for (const auto& [time, deadline] : tasks) {
    request.set.models.push_back({.model = "m"});
    request.models.push_back({.whole = {.time = std::chrono::milliseconds(time)}});
    Task task{.model = request.models.size() - 1};
    if (deadline > 0) task.deadline = std::chrono::milliseconds(deadline);
    request.set.tasks.push_back(task);
  }
  return request;
}

TEST(Admission, RefusesTheLongestOfThoseThatMakeOneLate) {
  // Shortest first, three of four meet their deadlines without the long one.
  EXPECT_THAT(admit_by_deadline(one_worker({{2, 4}, {9, 10}, {3, 11}, {2, 12}})),
              ElementsAre(true, false, true, true));
}

TEST(Admission, TheLessUrgentGoesFirstAndNoTaskWithoutADeadline) {
  PlanRequest request = one_worker({{5, 5}, {5, 6}, {50, 0}});
  request.set.tasks[1].priority = 1;
  EXPECT_THAT(admit_by_deadline(request), ElementsAre(false, true, true));
}

TEST(Admission, AllIsAll) {
  EXPECT_THAT(admit_all(one_worker({{5, 1}, {5, 1}})), ElementsAre(true, true));
}

TEST(Admission, OnOneWorkerAsManyAsPossibleMeetTheirDeadlines) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::pair<int, int>> tasks(1 + random() % 8);
    for (auto& [time, deadline] : tasks) {
      time = 1 + static_cast<int>(random() % 20);
      deadline = 1 + static_cast<int>(random() % 60);
    }
    const auto admitted = admit_by_deadline(one_worker(tasks));
    // Every subset, earliest deadline first.
    long most = 0;
    for (unsigned subset = 0; subset < 1U << tasks.size(); ++subset) {
      std::vector<std::pair<int, int>> some;
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        if ((subset >> i & 1U) != 0) some.push_back(tasks[i]);
      }
      std::ranges::sort(some, {}, &std::pair<int, int>::second);
      int end = 0;
      const bool fits = std::ranges::all_of(
          some, [&](const auto& task) { return (end += task.first) <= task.second; });
      if (fits) most = std::max(most, std::ssize(some));
    }
    EXPECT_EQ(std::ranges::count(admitted, true), most) << "trial " << trial;
  }
}

TEST(Admission, UnknownRulesAreRefusedWithTheNearest) {
  const auto found = find_admission_rule("dedline");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("did you mean deadline"));
}

}  // namespace
}  // namespace pareto::tasks
