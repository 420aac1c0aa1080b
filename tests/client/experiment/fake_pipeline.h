// A pipeline over devices that live in the test, deployed.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/cluster/deployment.h"
#include "tests/client/support/fake_devices.h"
#include "tests/client/support/fake_workload.h"

namespace pareto::client {

/// Of a device for each stage, or replica.
class FakePipelineTest : public testing::Test {
 protected:
  explicit FakePipelineTest(std::vector<StagePlan> stages, int window = 0, bool replicated = false)
      : cluster_(Cluster::of(fake_devices(devices_of(stages), transport_, daemons_))),
        pool_(workload_) {
    plan_.model = "adder";
    plan_.transport = "memory";
    plan_.window = window;
    plan_.stages = std::move(stages);
    plan_.replicated = replicated;
    deployment_ = Deployment::open(plan_, cluster_, pool_, transports_).value();
  }

  FakeWorkload workload_;
  MemoryTransport transport_;
  TransportSet transports_{sharing(transport_)};
  std::vector<FakeDaemon*> daemons_;
  Cluster cluster_;
  ShardPool pool_;
  Plan plan_;
  std::unique_ptr<Deployment> deployment_;

 private:
  static std::vector<std::string> devices_of(const std::vector<StagePlan>& stages) {
    std::vector<std::string> names;
    for (const StagePlan& stage : stages) names.push_back(stage.device);
    return names;
  }
};

}  // namespace pareto::client
