// Conditions on an interface that outlived their process, or were touched by others meanwhile.
#include <gmock/gmock.h>
#include <net/if.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "netem/emulation_record.h"
#include "netem/interface_emulation.h"
#include "netem/traffic_control.h"
#include "tests/netem/interface_fixture.h"

namespace pareto::netem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(InterfaceEmulationTest, AKeptOneStaysUntilItIsCleared) {
  inside([&] {
    {
      auto applied = apply({at_rate(20), {}});
      ASSERT_TRUE(applied) << applied.error().message;
      const auto kept = applied->keep();
      ASSERT_TRUE(kept) << kept.error().message;
    }
    EXPECT_EQ(queues().root_kind, "tbf");
    ASSERT_EQ(list().size(), 1U);
    EXPECT_EQ(list()[0].state, EmulationState::kKept);
    EXPECT_THAT(clear_stale(folder()).value(), IsEmpty());
    EXPECT_EQ(queues().root_kind, "tbf");
    // Another takes its place.
    {
      auto applied = apply({at_rate(10), {}});
      ASSERT_TRUE(applied) << applied.error().message;
      ASSERT_TRUE(applied->keep());
    }
    const auto cleared = clear_emulation(kInterface, folder());
    EXPECT_TRUE(cleared) << cleared.error().message;
    expect_as_before();
    const auto again = clear_emulation(kInterface, folder());
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::kNotFound);
  });
}

TEST_F(InterfaceEmulationTest, OneThatAKilledProcessLeftIsTakenBack) {
  inside([&] {
    if (!apply_and_die({at_rate(20), at_rate(5)})) GTEST_SKIP() << "this kernel lacks ifb or u32";
    EXPECT_EQ(queues().root_kind, "tbf");
    EXPECT_TRUE(queues().has_ingress);
    ASSERT_EQ(list().size(), 1U);
    EXPECT_EQ(list()[0].state, EmulationState::kStale);
    const auto cleared = clear_stale(folder());
    ASSERT_TRUE(cleared) << cleared.error().message;
    EXPECT_THAT(*cleared, ElementsAre(kInterface));
    expect_as_before();
  });
}

TEST_F(InterfaceEmulationTest, WhatCannotBeTakenBackIsToldAndLeftToAnybody) {
  inside([&] {
    {
      auto applied = apply({at_rate(20), {}});
      ASSERT_TRUE(applied) << applied.error().message;
      const std::string path = std::getenv("PATH");
      ::setenv("PATH", "/no/such/folder", 1);
      const auto ended = applied->end();
      ::setenv("PATH", path.c_str(), 1);
      ASSERT_FALSE(ended);
      EXPECT_THAT(ended.error().message, HasSubstr("paretoctl netem clear --interface edge0"));
    }
    EXPECT_EQ(queues().root_kind, "tbf");
    ASSERT_EQ(list().size(), 1U);
    EXPECT_EQ(list()[0].state, EmulationState::kStale);
    const auto cleared = clear_emulation(kInterface, folder());
    EXPECT_TRUE(cleared) << cleared.error().message;
    expect_as_before();
  });
}

TEST_F(InterfaceEmulationTest, ANewOneTakesThePlaceOfAStaleOne) {
  inside([&] {
    ASSERT_TRUE(apply_and_die({at_rate(20), {}}));
    {
      const auto applied = apply({at_rate(10), {}});
      ASSERT_TRUE(applied) << applied.error().message;
    }
    expect_as_before();
  });
}

TEST_F(InterfaceEmulationTest, ARecordOfWhatWasNeverDoneIsCleared) {
  inside([&] {
    auto record = record_of_this_process();
    ASSERT_TRUE(record);
    ++record->started;  // gone
    record->interface = kInterface;
    record->index = ::if_nametoindex(kInterface);
    record->ifb = ifb();
    record->most_segments = kManySegments;
    ASSERT_TRUE(RecordFolder::hold(folder())->write(*record));
    const auto cleared = clear_stale(folder());
    ASSERT_TRUE(cleared) << cleared.error().message;
    EXPECT_THAT(*cleared, ElementsAre(kInterface));
    expect_as_before();
  });
}

TEST_F(InterfaceEmulationTest, AGarbledRecordIsToldAndWhatItWasForTakenBack) {
  inside([&] {
    ASSERT_TRUE(apply_and_die({at_rate(20), {}}));
    for (const auto& file : std::filesystem::directory_iterator(folder())) {
      if (file.path().extension() == ".json") std::ofstream(file.path()) << "{\"format\": 1, ";
    }
    ASSERT_EQ(list().size(), 1U);
    EXPECT_EQ(list()[0].state, EmulationState::kUnreadable);
    const auto cleared = clear_stale(folder());
    ASSERT_TRUE(cleared) << cleared.error().message;
    EXPECT_THAT(*cleared, ElementsAre(kInterface));
    expect_as_before();
  });
}

TEST_F(InterfaceEmulationTest, WhatAProcessHoldsIsLeftToIt) {
  inside([&] {
    const auto applied = apply({at_rate(20), {}});
    ASSERT_TRUE(applied) << applied.error().message;
    for (const auto& refused : {clear_emulation(kInterface, folder()),
                                apply({at_rate(10), {}}).map([](const auto&) {})}) {
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
      EXPECT_THAT(refused.error().message, HasSubstr(fmt::format("process {}", ::getpid())));
    }
    EXPECT_EQ(queues().root_kind, "tbf");
  });
}

}  // namespace
}  // namespace pareto::netem
