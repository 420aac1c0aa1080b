// A small model, and clusters of devices that are not there: for sweeps that are planned, not run.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "coordinator/sweep/sweep.h"
#include "tests/coordinator/support/fake_daemon.h"
#include "tests/coordinator/support/memory_transport.h"
#include "tests/coordinator/support/small_model.h"

namespace pareto::sweep {

class SweepPlanTest : public testing::Test {
 protected:
  SweepPlanTest() : cluster_(cluster(2)) {}

  cluster::Cluster cluster(int count) {
    std::vector<std::unique_ptr<cluster::DaemonClient>> devices;
    for (int i = 0; i < count; ++i) {
      devices.push_back(std::make_unique<test::FakeDaemon>("d" + std::to_string(i), transport_));
    }
    return cluster::Cluster::of(std::move(devices));
  }
  std::string refusal(const SweepOptions& options) {
    const auto trials = plan_sweep(model_, cluster_, options);
    return trials ? "" : trials.error().message;
  }

  test::MemoryTransport transport_;
  model::Model model_ = test::small_model();
  cluster::Cluster cluster_;
};

}  // namespace pareto::sweep
