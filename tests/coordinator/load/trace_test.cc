#include "coordinator/load/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/load/fake_pipeline.h"

namespace pareto::load {
namespace {

using testing::HasSubstr;

class TraceTest : public FakePipelineTest {
 protected:
  TraceTest() : FakePipelineTest({{"a", 0, 3}, {"b", 3, test::kFakeOperators}}, /*window=*/3) {}

  Expected<PipelineTrace> trace(int requests) {
    return trace_pipeline(*deployment_, plan_, Value{Tuple{workload_.example(2, 1).value()}},
                          requests, kRequestTimeout);
  }
};

TEST_F(TraceTest, HoldsEveryRequestAndEveryClock) {
  daemons_[1]->set_clock({Nanoseconds(5000), Nanoseconds(70)});
  const auto traced = trace(7);
  ASSERT_TRUE(traced) << traced.error().message;
  ASSERT_EQ(traced->load.samples.size(), 7U);
  for (std::uint64_t i = 0; i < 7; ++i) EXPECT_EQ(traced->load.samples[i].request, i);
  ASSERT_EQ(traced->stages.size(), 2U);
  EXPECT_EQ(traced->stages[1].device, "b");
  EXPECT_GT(traced->stages[1].input_bytes, 0U);
  EXPECT_EQ(traced->plan.window, 3);
  EXPECT_EQ(traced->clocks.at("a").offset, Nanoseconds(0));
  EXPECT_EQ(traced->clocks.at("b").offset, Nanoseconds(5000));
  EXPECT_EQ(traced->clocks.at("b").error, Nanoseconds(70));
}

TEST_F(TraceTest, TimesThatNoClockGivesAreRefused) {
  daemons_[0]->misreport();
  const auto traced = trace(2);
  ASSERT_FALSE(traced);
  EXPECT_EQ(traced.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(traced.error().message, HasSubstr("request 0"));
}

TEST_F(TraceTest, ADeviceThatDoesNotAnswerIsNamed) {
  daemons_[1]->die();
  const auto traced = trace(2);
  ASSERT_FALSE(traced);
  EXPECT_EQ(traced.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(traced.error().message, HasSubstr("b: "));
}

}  // namespace
}  // namespace pareto::load
