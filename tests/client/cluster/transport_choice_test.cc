#include "client/cluster/transport_choice.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/client/support/fake_daemon.h"
#include "tests/client/support/memory_transport.h"

namespace pareto::client {
namespace {

const transport::Place kHere{"boot", 7, 1000};

class TransportChoice : public testing::Test {
 protected:
  /// What auto stands for on two devices, the second of them there.
  std::string chosen(const transport::Place& place, bool serves_shm = true) {
    std::vector<std::unique_ptr<DaemonClient>> devices;
    for (const char* name : {"a", "b"}) {
      auto daemon = std::make_unique<FakeDaemon>(name, transport_);
      const bool second = std::string_view(name) == "b";
      daemon->set_place(second ? place : kHere, !second || serves_shm);
      devices.push_back(std::move(daemon));
    }
    cluster_.emplace(Cluster::of(std::move(devices)));
    return nearest_transport({"a", "b"}, *cluster_, kHere).value();
  }

  MemoryTransport transport_;
  std::optional<Cluster> cluster_;
};

TEST_F(TransportChoice, SharesMemoryOnlyWhereEveryLinkStaysHere) {
  EXPECT_EQ(chosen(kHere), "shm");
  EXPECT_EQ(chosen(kHere, /*serves_shm=*/false), "tcp");
  EXPECT_EQ(chosen({"another", 7, 1000}), "tcp");
  EXPECT_EQ(chosen({"boot", 8, 1000}), "tcp");
  EXPECT_EQ(chosen({"boot", 7, 0}), "tcp");
  // A plan on the first device alone.
  EXPECT_EQ(nearest_transport({"a"}, *cluster_, kHere).value(), "shm");
  // Two devices of one machine that is not ours: the source's link and the sink's do not stay there.
  EXPECT_EQ(nearest_transport({"a"}, *cluster_, {"another", 7, 1000}).value(), "tcp");
  EXPECT_EQ(nearest_transport({"c"}, *cluster_, kHere).error().code, ErrorCode::kNotFound);
}

TEST_F(TransportChoice, AnUnknownPlaceIsNotShared) {
  EXPECT_FALSE(transport::share_memory({}, {}));
  EXPECT_FALSE(transport::share_memory({"boot", 0, 1}, {"boot", 0, 1}));
  EXPECT_EQ(chosen({}), "tcp");
  EXPECT_EQ(nearest_transport({"a"}, *cluster_, {}).value(), "tcp");
}

TEST_F(TransportChoice, NamesOnlyWhatAPlanLeavesOpen) {
  chosen(transport::this_place());
  Plan plan;
  plan.stages = {{"b", 0, 4}};
  plan.transport = "grpc";
  EXPECT_EQ(with_transport_named(plan, *cluster_).value(), plan);
  plan.transport = "auto";
  EXPECT_EQ(with_transport_named(plan, *cluster_).value().transport, "shm");
}

}  // namespace
}  // namespace pareto::client
