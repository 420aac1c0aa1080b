#include "client/planning/stage_overhead.h"

#include <gmock/gmock.h>

#include "tests/client/support/fake_daemon.h"
#include "tests/client/support/fake_workload.h"
#include "tests/client/support/memory_transport.h"

namespace pareto::client {
namespace {

class StageOverhead : public testing::Test {
 protected:
  StageOverhead() {
    std::vector<std::unique_ptr<DaemonClient>> devices;
    devices.push_back(std::make_unique<FakeDaemon>("pi-1", transport_));
    cluster_ = Cluster::of(std::move(devices));
    plan_.model = "ten";
    plan_.transport = "memory";
    plan_.stages = {{"pi-1", 0, kFakeOperators}};
  }

  Expected<Nanoseconds> overhead(Nanoseconds predicted) {
    const Value request{Tuple{workload_.example(1, 1).value()}};
    return measure_overhead(plan_, predicted, request, *cluster_, pool_, transports_);
  }

  MemoryTransport transport_;
  TransportSet transports_{sharing(transport_)};
  std::optional<Cluster> cluster_;
  FakeWorkload workload_;
  ShardPool pool_{workload_};
  Plan plan_;
};

TEST_F(StageOverhead, IsWhatThePredictionLacks) {
  const auto all = overhead(Nanoseconds(0));
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_GT(all->count(), 0) << "it takes some time at least";
  const auto none = overhead(std::chrono::hours(1));
  ASSERT_TRUE(none);
  EXPECT_EQ(none->count(), 0) << "never less than nothing";
}

TEST_F(StageOverhead, FailsAsThePipelineDoes) {
  plan_.stages.front().device = "pi-2";
  const auto failed = overhead(Nanoseconds(0));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace pareto::client
