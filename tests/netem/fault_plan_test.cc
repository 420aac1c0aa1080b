// Plans of faults: read, and played in order.
#include "netem/fault_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace pareto::netem {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

Expected<FaultPlan> plan_of(const std::string& text) {
  const auto path =
      std::filesystem::temp_directory_path() / ("faults-" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(path) << text;
  auto plan = read_fault_plan(path);
  std::filesystem::remove(path);
  return plan;
}

std::string why_refused(const std::string& entry) {
  const auto plan = plan_of("faults:\n  - " + entry + "\n");
  return plan ? "" : plan.error().message;
}

std::vector<FaultMoment> moments_of(const std::string& text) {
  auto plan = plan_of(text);
  EXPECT_TRUE(plan) << plan.error().message;
  auto timeline = FaultTimeline::create(*std::move(plan), {"pi-1", "pi-2", "pi-3"},
                                        {"pi-1 - pi-2", "pi-2 - pi-3"});
  EXPECT_TRUE(timeline) << timeline.error().message;
  std::vector<FaultMoment> moments;
  while (const auto moment = timeline->next()) moments.push_back(*moment);
  return moments;
}

TEST(FaultPlan, IsPlayedInTheOrderOfItsTimes) {
  const auto moments = moments_of(
      "faults:\n"
      "  - {fault: stop, device: pi-2, at: 5s, for: 2s, every: 3s, times: 2}\n"
      "  - {fault: kill, device: pi-1, at: 1s}\n"
      "  - {fault: partition, link: pi-3 - pi-2, direction: forward, at: 6s, for: 1s}\n"
      "  - {fault: restart, device: pi-3, at: 8500ms}\n");
  struct Seen {
    Nanoseconds at;
    bool begins;
    std::string place;
    bool operator==(const Seen&) const = default;
  };
  std::vector<Seen> seen;
  for (const FaultMoment& one : moments) seen.push_back({one.at, one.begins, one.fault.place});
  const std::vector<Seen> expected{
      {seconds(1), true, "pi-1"},         {seconds(5), true, "pi-2"},
      {seconds(6), true, "pi-2 - pi-3"},  {seconds(7), false, "pi-2"},
      {seconds(7), false, "pi-2 - pi-3"}, {seconds(8), true, "pi-2"},
      {milliseconds(8500), true, "pi-3"}, {seconds(10), false, "pi-2"}};
  EXPECT_EQ(seen, expected);
}

TEST(FaultPlan, AnEndHasTheNumberOfItsBeginning) {
  std::set<std::uint64_t> lasting;
  int ends = 0;
  for (const FaultMoment& one :
       moments_of("faults:\n"
                  "  - {fault: drop, link: any, share: 1%, for: 30ms, every: 10ms, times: 50}\n"
                  "  - {fault: stop, device: any, for: 15ms, every: 10ms, times: 50}\n")) {
    if (one.begins) {
      EXPECT_TRUE(lasting.insert(one.number).second);
    } else {
      EXPECT_EQ(lasting.erase(one.number), 1U);
      ++ends;
    }
  }
  EXPECT_EQ(ends, 100);
  EXPECT_TRUE(lasting.empty());
}

TEST(FaultPlan, TheSameSeedChoosesTheSame) {
  const std::string entry =
      "faults:\n  - {fault: corrupt, link: any, direction: any, for: 1ms, every: 2ms, times: 64}\n";
  const auto chosen = [&](int seed) {
    std::vector<Fault> faults;
    for (const auto& one : moments_of("seed: " + std::to_string(seed) + "\n" + entry)) {
      faults.push_back(one.fault);
    }
    return faults;
  };
  const auto first = chosen(1);
  EXPECT_EQ(first, chosen(1));
  EXPECT_NE(first, chosen(2));
  std::set<std::pair<std::string, FaultDirection>> kinds;
  for (const Fault& fault : first) kinds.emplace(fault.place, fault.direction);
  EXPECT_EQ(kinds.size(), 4U) << "both links, either way";
}

TEST(FaultPlan, WhatIsWrongIsNamed) {
  EXPECT_THAT(why_refused("{fault: kil, device: a}"), HasSubstr("did you mean kill"));
  EXPECT_THAT(why_refused("{fault: kill}"), HasSubstr("device"));
  EXPECT_THAT(why_refused("{fault: kill, link: a - b}"), HasSubstr("device"));
  EXPECT_THAT(why_refused("{fault: stop, device: a}"), HasSubstr("how long does stop last?"));
  EXPECT_THAT(why_refused("{fault: restart, device: a, for: 1s}"), HasSubstr("done at once"));
  EXPECT_THAT(why_refused("{fault: kill, device: a, for: 0}"), HasSubstr("less than 1ms"));
  EXPECT_THAT(why_refused("{fault: kill, device: a, at: 25h}"), HasSubstr("at"));
  EXPECT_THAT(why_refused("{fault: kill, device: a, times: 3}"), HasSubstr("every"));
  EXPECT_THAT(why_refused("{fault: kill, device: a, every: 3s}"), HasSubstr("how often?"));
  EXPECT_THAT(why_refused("{fault: kill, device: a, times: 1000000, every: 1s}"),
              HasSubstr("100000"));
  EXPECT_THAT(why_refused("{fault: delay, link: any, for: 1s}"), HasSubstr("delay"));
  EXPECT_THAT(why_refused("{fault: drop, link: any, for: 1s, share: 0%}"), HasSubstr("share"));
  EXPECT_THAT(why_refused("{fault: drop, link: any, for: 1s, packets: 0}"), HasSubstr("packets"));
  EXPECT_THAT(why_refused("{fault: drop, link: any, for: 1s, direction: up}"),
              HasSubstr("both, forward, backward, any"));
  EXPECT_THAT(why_refused("{fault: partition, link: any, for: 1s, share: 1%}"), HasSubstr("share"));
  EXPECT_THAT(plan_of("faults: []\n").error().message, HasSubstr("0 faults, not 1 to 1000"));
}

TEST(FaultPlan, PlacesThatTheTestBedLacksAreNamed) {
  const auto refused = [](const std::string& entry, std::vector<std::string> links) {
    auto plan = plan_of("faults:\n  - " + entry + "\n");
    const auto timeline = FaultTimeline::create(*std::move(plan), {"pi-1"}, std::move(links));
    return timeline ? "" : timeline.error().message;
  };
  EXPECT_THAT(refused("{fault: kill, device: pi-9}", {}),
              AllOf(HasSubstr("no device \"pi-9\""), HasSubstr("did you mean pi-1")));
  EXPECT_THAT(refused("{fault: drop, link: pi-1 - x, for: 1s}", {"pi-1 - pi-2"}),
              HasSubstr("it has pi-1 - pi-2"));
  EXPECT_THAT(refused("{fault: drop, link: any, for: 1s}", {}), HasSubstr("no links"));
}

TEST(FaultPlan, NamesAreReadAsTheyAreWritten) {
  for (int i = 0; i <= static_cast<int>(FaultKind::kHalfClose); ++i) {
    const auto kind = static_cast<FaultKind>(i);
    EXPECT_EQ(parse_fault_kind(std::string(to_string(kind))).value(), kind);
  }
}

TEST(FaultPlan, SamplesAreValid) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(PARETO_SOURCE_DIR "/configs/faults")) {
    const auto plan = read_fault_plan(entry.path());
    EXPECT_TRUE(plan) << plan.error().message;
    ++count;
  }
  EXPECT_GE(count, 1);
}

}  // namespace
}  // namespace pareto::netem
