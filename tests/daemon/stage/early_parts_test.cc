#include "daemon/stage/early_parts.h"

#include <gtest/gtest.h>

#include <vector>

namespace pareto::daemon {
namespace {

using std::chrono::microseconds;

struct FakeClock final : Clock {
  TimePoint now() const override { return time; }
  TimePoint time{};
};

class EarlyPartsTest : public testing::Test {
 protected:
  /// Runs one request whose output 1 is ready `lead` before its end.
  std::uint32_t run(std::uint64_t request, Nanoseconds lead) {
    early_.begin(9, request);
    if (early_.wants(1)) early_.take(1, "early");
    clock_.time += lead;
    return early_.end();
  }

  FakeClock clock_;
  std::vector<wire::Message> sent_;
  bool has_room_ = true;
  EarlyParts early_{[this] { return has_room_; },
                    [this](wire::Message part) { sent_.push_back(std::move(part)); }, clock_};
};

TEST_F(EarlyPartsTest, WhatWasReadyEarlyGoesAheadInTheNextRequest) {
  EXPECT_EQ(run(0, microseconds(900)), 0U);
  EXPECT_EQ(run(1, microseconds(900)), 1U);
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].kind, wire::MessageKind::kPart);
  EXPECT_EQ(sent_[0].pipeline, 9U);
  EXPECT_EQ(sent_[0].request, 1U);
  EXPECT_TRUE(bit_equal(sent_[0].body, Tuple{{std::int64_t{1}, "early"}}));
}

TEST_F(EarlyPartsTest, AMessageThatWouldGainNothingIsNotSent) {
  for (std::uint64_t request = 0; request < 3; ++request) {
    EXPECT_EQ(run(request, microseconds(30)), 0U);
  }
  // A shard that slows down is noticed, one request later.
  EXPECT_EQ(run(3, microseconds(900)), 0U);
  EXPECT_EQ(run(4, microseconds(30)), 1U);
  EXPECT_EQ(run(5, microseconds(30)), 0U);
}

TEST_F(EarlyPartsTest, WhereOthersWaitToBeSentNothingWaitsForRoom) {
  EXPECT_EQ(run(0, microseconds(900)), 0U);
  has_room_ = false;
  EXPECT_EQ(run(1, microseconds(900)), 0U);
  has_room_ = true;
  EXPECT_EQ(run(2, microseconds(900)), 1U);
}

TEST_F(EarlyPartsTest, PartsAreCounted) {
  for (std::uint64_t request = 0; request < 2; ++request) {
    early_.begin(9, request);
    for (const std::size_t index : {std::size_t{2}, std::size_t{0}}) {
      if (early_.wants(index)) early_.take(index, "early");
    }
    clock_.time += microseconds(900);
    EXPECT_EQ(early_.end(), request == 0 ? 0U : 2U);
  }
  ASSERT_EQ(sent_.size(), 2U);
  EXPECT_EQ(sent_[0].sequence, 0U);
  EXPECT_EQ(sent_[1].sequence, 1U);
}

}  // namespace
}  // namespace pareto::daemon
