#include "runtime/schedules/check_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/schedules/schedule.h"

namespace pareto::schedules {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(CheckSchedule, TakesEveryChoiceAndPrograms) {
  EXPECT_EQ(schedule_choices().front(), "auto");
  EXPECT_THAT(schedule_choices(), AllOf(Contains("sequential"), Not(Contains("program"))));
  for (const std::string& choice : schedule_choices()) EXPECT_TRUE(check_schedule(choice));
  EXPECT_TRUE(check_schedule(R"({"split":{"at_least":2,"parts":2}})"));
}

TEST(CheckSchedule, NamesTheNearest) {
  const auto refused = check_schedule("clustres");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("no schedule \"clustres\" (did you mean clusters?)"),
                    HasSubstr("there are auto, sequential"), HasSubstr("files of programs")));
  EXPECT_FALSE(check_schedule(""));
  EXPECT_FALSE(check_schedule("program")) << "it needs a file";
}

TEST(CheckSchedule, ReadsPrograms) {
  for (const char* const wrong : {"{", "{}x", R"({"unts":[]})", R"({"units":7})"}) {
    const auto refused = check_schedule(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument) << wrong;
  }
}

}  // namespace
}  // namespace pareto::schedules
