#include "client/experiment/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/support/fake_devices.h"
#include "tests/client/support/fake_workload.h"

namespace pareto::client {
namespace {

using testing::HasSubstr;

class TraceTest : public testing::Test {
 protected:
  TraceTest()
      : cluster_(Cluster::of(fake_devices({"a", "b"}, transport_, daemons_))), pool_(workload_) {
    plan_.model = "adder";
    plan_.transport = "memory";
    plan_.window = 3;
    plan_.stages = {{"a", 0, 3}, {"b", 3, kFakeOperators}};
    deployment_ = Deployment::open(plan_, cluster_, pool_, transports_).value();
  }

  Expected<PipelineTrace> trace(int requests) {
    return trace_pipeline(*deployment_, plan_, Value{Tuple{workload_.example(2, 1).value()}},
                          requests, kRequestTimeout);
  }

  FakeWorkload workload_;
  MemoryTransport transport_;
  TransportSet transports_{sharing(transport_)};
  std::vector<FakeDaemon*> daemons_;
  Cluster cluster_;
  ShardPool pool_;
  Plan plan_;
  std::unique_ptr<Deployment> deployment_;
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
}  // namespace pareto::client
