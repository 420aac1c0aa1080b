// What was seen first stays, for this process, for others that share the file, and for the next.
#include "daemon/imitation/steady_pace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/file.h"
#include "daemon/imitation/slow_processor.h"
#include "tests/daemon/support/use_processor.h"

namespace pareto::daemon {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

/// Makes operators that take these times, in milliseconds.
runtime::ShardProfile operators(const std::vector<int>& times,
                                std::vector<std::size_t> until_output = {}) {
  runtime::ShardProfile profile;
  for (const int time : times) profile.operators.push_back({0, "", "", "", milliseconds(time)});
  profile.operators_until_output = std::move(until_output);
  return profile;
}

TEST(SteadyPace, IsInProportionToWhatComesIn) {
  const SteadyPace pace(operators({5, 3}), 100);
  EXPECT_EQ(pace.whole(100), milliseconds(8));
  EXPECT_EQ(pace.whole(50), milliseconds(4));
  EXPECT_EQ(SteadyPace(operators({8}), 0).whole(50), milliseconds(8)) << "without inputs";
  EXPECT_EQ(SteadyPace(operators({8}), 1).whole(UINT64_MAX), std::chrono::minutes(1));
  EXPECT_EQ(SteadyPace(operators({59'000, 59'000}), 1).whole(1), std::chrono::minutes(1));
}

TEST(SteadyPace, AnOutputIsMadeWhenTheOperatorsUpToItsOwnHaveRun) {
  const SteadyPace pace(operators({5, 3, 2}, {2, 0, 3, 1}), 100);
  EXPECT_EQ(pace.until(0, 100), milliseconds(8));
  EXPECT_EQ(pace.until(1, 100), milliseconds(0)) << "an input";
  EXPECT_EQ(pace.until(2, 100), milliseconds(10));
  EXPECT_EQ(pace.until(3, 100), milliseconds(5));
  EXPECT_EQ(pace.until(0, 50), milliseconds(4));
  EXPECT_EQ(pace.until(4, 100), milliseconds(10)) << "of which nothing is known";
}

TEST(SteadyPace, SaysHowLongWorkTakesWhateverItTakesHere) {
  SlowProcessor processor(0.5);
  const SteadyPace pace(operators({20, 10}, {1}), 0);
  const TimePoint begin = std::chrono::steady_clock::now();
  SlowProcessor::Work work(processor, {}, &pace);
  work.catch_up(0);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(40));
  work.finish();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(60));
}

TEST(SteadyPace, OfWorkThatTookLongerHereNothingIsMadeLonger) {
  SlowProcessor processor(0.001);
  const SteadyPace pace(operators({0}, {1}), 0);
  const TimePoint begin = std::chrono::steady_clock::now();
  SlowProcessor::Work work(processor, {}, &pace);
  const Nanoseconds used = test::use_processor();
  work.catch_up(0);
  work.finish();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1000 * used) << "as without a pace";
}

class OperatorPacesTest : public testing::Test {
 protected:
  static runtime::ShardProfile profile(Nanoseconds first, Nanoseconds second) {
    return {{{4, "aten::relu", "a", "aten::relu(Float[1, 2], )", first},
             {5, "aten::relu", "b", "aten::relu(Float[3], )", second}},
            {{4, 5, {}}, {5, 6, {}}},
            {1, 2}};
  }
  static std::vector<Nanoseconds> times_of(const runtime::ShardProfile& profile) {
    std::vector<Nanoseconds> times;
    for (const auto& one : profile.operators) times.push_back(one.median);
    for (const auto& one : profile.segments) times.push_back(one.median);
    return times;
  }
  std::string text() const { return read_file(file_).value(); }
  std::string error_of(const std::string& content) const {
    std::ofstream(file_) << content;
    const auto paces = OperatorPaces::open(file_);
    return paces ? "" : paces.error().message;
  }

  TemporaryFolder folder_ = TemporaryFolder::create("operator-paces-test").value();
  const std::filesystem::path file_ = folder_.path() / "camera.times";
};

TEST_F(OperatorPacesTest, AreThoseOfTheFirstTime) {
  const auto paces = OperatorPaces::open(file_).value();
  auto first = profile(Nanoseconds(7), Nanoseconds(9));
  EXPECT_FALSE(paces->know(first.operators));
  ASSERT_TRUE(paces->settle(first));
  const std::vector<Nanoseconds> expected{Nanoseconds(7), Nanoseconds(9), Nanoseconds(7),
                                          Nanoseconds(9)};
  EXPECT_EQ(times_of(first), expected);
  EXPECT_TRUE(paces->know(first.operators));
  auto later = profile(Nanoseconds(70), Nanoseconds(90));
  later.segments = {{4, 6, {}}};
  ASSERT_TRUE(paces->settle(later));
  EXPECT_EQ(later.segments[0].median, Nanoseconds(16));
  EXPECT_EQ(text(),
            "pareto-edge operator times 1\n"
            "7 aten::relu(Float[1, 2], )\n"
            "9 aten::relu(Float[3], )\n");
}

TEST_F(OperatorPacesTest, AreTheSameForAllWhoShareTheFile) {
  const auto one = OperatorPaces::open(file_).value();
  const auto other = OperatorPaces::open(file_).value();
  auto first = profile(Nanoseconds(7), Nanoseconds(9));
  ASSERT_TRUE(one->settle(first));
  auto theirs = profile(Nanoseconds(70), Nanoseconds(90));
  ASSERT_TRUE(other->settle(theirs));
  EXPECT_EQ(times_of(theirs), times_of(first));
  auto next = profile(Nanoseconds(700), Nanoseconds(900));
  ASSERT_TRUE(OperatorPaces::open(file_).value()->settle(next));
  EXPECT_EQ(times_of(next), times_of(first));
}

TEST_F(OperatorPacesTest, ManyWhoAddAtOnceAddEachOnce) {
  {
    std::vector<std::jthread> threads;
    for (int i = 1; i <= 8; ++i) {
      threads.emplace_back([this, i] {
        auto seen = profile(Nanoseconds(i), Nanoseconds(10 * i));
        EXPECT_TRUE(OperatorPaces::open(file_).value()->settle(seen));
      });
    }
  }
  EXPECT_EQ(std::ranges::count(text(), '\n'), 3);
}

TEST_F(OperatorPacesTest, AFileThatIsNoneIsToldWithItsLine) {
  EXPECT_EQ(error_of(""), "");
  EXPECT_EQ(error_of("pareto-edge operator times 1\n12 aten::relu()\n"), "");
  EXPECT_THAT(error_of("speed: 1\n"), testing::AllOf(HasSubstr("camera.times"), HasSubstr("line 1"),
                                                     HasSubstr("remove the file")));
  const std::string good = "pareto-edge operator times 1\n";
  EXPECT_THAT(error_of(good + "12 a\n-3 b\n"), HasSubstr("line 3"));
  EXPECT_THAT(error_of(good + "12\n"), HasSubstr("line 2"));
  EXPECT_THAT(error_of(good + "99999999999999999999 a\n"), HasSubstr("line 2"));
  EXPECT_THAT(error_of(good + "60000000001 a\n"), HasSubstr("line 2")) << "longer than a minute";
  EXPECT_EQ(OperatorPaces::open(folder_.path() / "gone" / "x").error().code, ErrorCode::kNotFound);
}

TEST_F(OperatorPacesTest, ALineThatWasNotWrittenWholeIsRemoved) {
  EXPECT_EQ(error_of("pareto-edge operator times 1\n12 a\n13 aten::re"), "");
  EXPECT_EQ(text(), "pareto-edge operator times 1\n12 a\n");
  EXPECT_EQ(error_of("pareto-edge oper"), "");
  EXPECT_EQ(text(), "pareto-edge operator times 1\n");
}

TEST_F(OperatorPacesTest, AFileThatWasRemovedIsMadeAnewWhole) {
  const auto paces = OperatorPaces::open(file_).value();
  auto seen = profile(Nanoseconds(7), Nanoseconds(9));
  ASSERT_TRUE(paces->settle(seen));
  const std::string before = text();
  std::filesystem::remove(file_);
  seen.operators[1].what = "aten::gelu()";
  ASSERT_TRUE(paces->settle(seen));
  EXPECT_EQ(text(), before + "9 aten::gelu()\n");
}

TEST_F(OperatorPacesTest, WhatCannotBeWrittenIsNotTakenForKept) {
  const auto paces = OperatorPaces::open(file_).value();
  std::filesystem::remove(file_);
  std::filesystem::create_directory(file_);
  auto seen = profile(Nanoseconds(7), Nanoseconds(9));
  EXPECT_FALSE(paces->settle(seen));
  EXPECT_FALSE(paces->know(seen.operators));
  std::filesystem::remove(file_);
  EXPECT_TRUE(paces->settle(seen));
  EXPECT_THAT(text(), HasSubstr("7 aten::relu(Float[1, 2], )"));
}

}  // namespace
}  // namespace pareto::daemon
