#include "coordinator/load/lost_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::load {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

TEST(LostRequest, HasFiftyTimesWhatRequestsTakeAndNoLessThanAskedFor) {
  EXPECT_EQ(timeout_for(Nanoseconds(0), 1, seconds(30)), seconds(30)) << "nothing is known";
  EXPECT_EQ(timeout_for(milliseconds(20), 3, seconds(30)), seconds(30));
  EXPECT_EQ(timeout_for(milliseconds(20), 3, milliseconds(500)), seconds(3));
  EXPECT_EQ(timeout_for(seconds(11), 1, seconds(30)), seconds(550));
  EXPECT_EQ(timeout_for(seconds(11), 3, seconds(30)), seconds(1650)) << "the third waits for two";
  EXPECT_EQ(timeout_for(std::chrono::hours(10), 100, seconds(30)), std::chrono::hours(24));
}

TEST(LostRequest, IsToldWithTheLimitAndHowToChangeIt) {
  const Error receiving = no_result_in(milliseconds(1500));
  EXPECT_EQ(receiving.code, ErrorCode::kTimeout);
  EXPECT_THAT(receiving.message, AllOf(HasSubstr("no result in 1.5 s"), HasSubstr("--timeout")));
  const Error sending = not_sent({ErrorCode::kTimeout, "the queue stayed full"}, seconds(5500));
  EXPECT_EQ(sending.code, ErrorCode::kTimeout);
  EXPECT_THAT(sending.message,
              AllOf(HasSubstr("sending a request: not taken in 5500 s"), HasSubstr("--timeout")));
  EXPECT_EQ(not_sent({ErrorCode::kClosed, "tcp pi-2: closed"}, seconds(1)).message,
            "sending a request: tcp pi-2: closed");
}

TEST(WhyBroken, IsTheCauseAndNotWhatFollowedFromIt) {
  const Error closed{ErrorCode::kClosed, "closed"};
  const Error late{ErrorCode::kTimeout, "late"};
  const Error lost{ErrorCode::kUnavailable, "lost"};
  const Error failed{ErrorCode::kExhausted, "no memory"};
  EXPECT_EQ(why_broken(closed, std::nullopt).message, "closed");
  EXPECT_EQ(why_broken(std::nullopt, late).message, "late");
  EXPECT_EQ(why_broken(closed, late).message, "late");
  EXPECT_EQ(why_broken(closed, failed).message, "no memory");
  EXPECT_EQ(why_broken(lost, closed).message, "lost");
  EXPECT_EQ(why_broken(lost, failed).message, "no memory");
}

}  // namespace
}  // namespace pareto::load
