#include "client/experiment/trial_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/support/fake_devices.h"
#include "tests/client/support/fake_workload.h"

namespace pareto::client {
namespace {

using testing::Each;
using testing::Gt;
using testing::SizeIs;

class TrialMeterTest : public testing::Test {
 protected:
  TrialMeterTest()
      : cluster_(Cluster::of(fake_devices({"a", "b"}, transport_, daemons_))), pool_(workload_) {
    Plan plan;
    plan.model = "adder";
    plan.transport = "memory";
    plan.stages = {{"a", 0, 3}, {"b", 3, kFakeOperators}};
    deployment_ = Deployment::open(plan, cluster_, pool_, transports_).value();
  }

  Expected<MeasuredRound> measure(const UnitBudget& budget) {
    TrialMeter meter(/*window=*/2, /*seed=*/1);
    return meter.measure(*deployment_, Value{Tuple{workload_.example(2, 1).value()}}, 0, true,
                         budget);
  }

  FakeWorkload workload_;
  MemoryTransport transport_;
  TransportSet transports_{sharing(transport_)};
  std::vector<FakeDaemon*> daemons_;
  Cluster cluster_;
  ShardPool pool_;
  std::unique_ptr<Deployment> deployment_;
};

TEST_F(TrialMeterTest, MeasuresFewerRequestsWhereTheyDoNotFitUnlessAllAreAskedFor) {
  UnitBudget budget{.slice = {}, .latency_requests = 40};
  const auto fitting = measure(budget);
  ASSERT_TRUE(fitting) << fitting.error().message;
  EXPECT_THAT(fitting->round.latency_ms, SizeIs(kFewestRequests));
  budget.all_requests = true;
  const auto all = measure(budget);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_THAT(all->round.latency_ms, SizeIs(40));
  EXPECT_THAT(all->round.latency_ms, Each(Gt(0)));
  for (const StageSamples& stage : all->round.stages) EXPECT_THAT(stage.compute_ms, SizeIs(40));
  EXPECT_EQ(sum_of(all->output), sum_of(fitting->output));
}

}  // namespace
}  // namespace pareto::client
