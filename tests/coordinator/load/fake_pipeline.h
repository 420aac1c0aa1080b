// A pipeline over devices that live in the test, deployed.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/cluster/deployment.h"
#include "tests/coordinator/support/fake_devices.h"
#include "tests/coordinator/support/fake_workload.h"

namespace pareto::load {

/// A pipeline with a device for each stage, or replica.
class FakePipelineTest : public testing::Test {
 protected:
  explicit FakePipelineTest(std::vector<plan::StagePlan> stages, int window = 0,
                            bool replicated = false)
      : cluster_(
            cluster::Cluster::of(test::fake_devices(devices_of(stages), transport_, daemons_))),
        pool_(workload_) {
    plan_.model = "adder";
    plan_.transport = "memory";
    plan_.window = window;
    plan_.stages = std::move(stages);
    plan_.replicated = replicated;
    deployment_ = cluster::Deployment::open(plan_, cluster_, pool_, transports_).value();
  }

  test::FakeWorkload workload_;
  test::MemoryTransport transport_;
  cluster::TransportSet transports_{test::sharing(transport_)};
  std::vector<test::FakeDaemon*> daemons_;
  cluster::Cluster cluster_;
  cluster::ShardPool pool_;
  plan::Plan plan_;
  std::unique_ptr<cluster::Deployment> deployment_;

 private:
  static std::vector<std::string> devices_of(const std::vector<plan::StagePlan>& stages) {
    std::vector<std::string> names;
    for (const plan::StagePlan& stage : stages) names.push_back(stage.device);
    return names;
  }
};

}  // namespace pareto::load
