// A small model, and clusters of devices that are not there: for sweeps that are planned, not run.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "client/experiment/sweep.h"
#include "tests/client/support/fake_daemon.h"
#include "tests/client/support/memory_transport.h"
#include "tests/client/support/small_model.h"

namespace pareto::client {

class SweepPlanTest : public testing::Test {
 protected:
  SweepPlanTest() : cluster_(cluster(2)) {}

  Cluster cluster(int count) {
    std::vector<std::unique_ptr<DaemonClient>> devices;
    for (int i = 0; i < count; ++i) {
      devices.push_back(std::make_unique<FakeDaemon>("d" + std::to_string(i), transport_));
    }
    return Cluster::of(std::move(devices));
  }
  std::string refusal(const SweepOptions& options) {
    const auto trials = plan_sweep(model_, cluster_, options);
    return trials ? "" : trials.error().message;
  }

  MemoryTransport transport_;
  partitioner::Model model_ = small_model();
  Cluster cluster_;
};

}  // namespace pareto::client
