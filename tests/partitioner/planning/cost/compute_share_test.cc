#include "partitioner/planning/cost/compute_share.h"

#include <gtest/gtest.h>

namespace pareto::planning {
namespace {

/// Returns two operators of 3 ms each on either device; every link takes so long, or nothing.
CostInputs linked_devices(Nanoseconds link_delay, double bytes_per_second) {
  CostInputs inputs;
  inputs.boundary_bytes = {0, 1'000'000, 0};
  inputs.legal = {true, true, true};
  DeviceCosts device;
  device.compute = {Nanoseconds(0), Nanoseconds(3'000'000), Nanoseconds(6'000'000)};
  inputs.devices = {device, device};
  LinkCosts link;
  link.delay = link_delay;
  link.bytes_per_second = bytes_per_second;
  inputs.links.assign(3, std::vector<LinkCosts>(3, link));
  return inputs;
}

const Placement kHalves{{{0, 0, 1}, {1, 1, 2}}};

ComputeShare share_of(const CostInputs& inputs, const Placement& placement, int window) {
  const auto evaluation = evaluate(inputs, placement);
  EXPECT_TRUE(evaluation);
  const auto share = ComputeShares(inputs).share_of(placement, *evaluation, window);
  EXPECT_TRUE(share) << share.error().message;
  return *share;
}

TEST(ComputeShares, DevicesAloneAreAllOfIt) {
  const ComputeShare share = share_of(linked_devices({}, 0), kHalves, 64);
  EXPECT_NEAR(share.latency, 1, 1e-6);
  EXPECT_NEAR(share.throughput, 1, 1e-6);
}

TEST(ComputeShares, LatencyIsSharedWithTheNetworkAndThroughputBelongsToTheBottleneck) {
  // 6 ms of compute and 3 x 1 ms of delay; 1 MB takes 10 ms at 100 MB/s and is the bottleneck.
  const ComputeShare slow = share_of(linked_devices(Nanoseconds(1'000'000), 1e8), kHalves, 64);
  EXPECT_NEAR(slow.latency, 6.0 / 19, 0.01);
  EXPECT_EQ(slow.throughput, 0);
  // … and 1 ms at 1 GB/s, so that a stage is.
  const ComputeShare fast = share_of(linked_devices(Nanoseconds(1'000'000), 1e9), kHalves, 64);
  EXPECT_NEAR(fast.latency, 0.6, 0.01);
  EXPECT_NEAR(fast.throughput, 1, 1e-6);
}

TEST(ComputeShares, ThroughputAtWindowOneIsThatOfLatency) {
  const ComputeShare share = share_of(linked_devices(Nanoseconds(1'000'000), 1e8), kHalves, 1);
  EXPECT_NEAR(share.throughput, share.latency, 1e-6);
}

TEST(ComputeShares, ThroughputOfAWindowTooSmallForTheDelaysIsTheNetworks) {
  const ComputeShare share = share_of(linked_devices(std::chrono::seconds(1), 0), kHalves, 64);
  EXPECT_NEAR(share.throughput, 0.002, 1e-4);
}

TEST(ComputeShares, DevicesAreSlowerWhenBusyToo) {
  CostInputs inputs = linked_devices({}, 0);
  for (DeviceCosts& device : inputs.devices) {
    device.busy = device;
    device.busy->whole = Nanoseconds(9'000'000);
  }
  EXPECT_NEAR(share_of(inputs, {{{1, 0, 2}}}, 64).throughput, 1, 1e-6);
}

TEST(ComputeShares, FailsAsEvaluatingDoes) {
  const CostInputs inputs = linked_devices({}, 0);
  EXPECT_FALSE(ComputeShares(inputs).share_of({{{7, 0, 2}}}, {}, 64));
}

}  // namespace
}  // namespace pareto::planning
