#include "coordinator/cluster/transport_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "tests/coordinator/support/fake_daemon.h"
#include "tests/coordinator/support/memory_transport.h"

namespace pareto::cluster {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const transport::Place kHere{"boot", 7, 1000};

class TransportChoice : public testing::Test {
 protected:
  /// Returns what auto stands for on two devices, the second of them there.
  std::string chosen(const transport::Place& place, bool serves_shm = true) {
    std::vector<std::unique_ptr<DaemonClient>> devices;
    for (const char* name : {"a", "b"}) {
      auto daemon = std::make_unique<test::FakeDaemon>(name, transport_);
      const bool second = std::string_view(name) == "b";
      daemon->set_place(second ? place : kHere, !second || serves_shm);
      devices.push_back(std::move(daemon));
    }
    cluster_.emplace(Cluster::of(std::move(devices)));
    return nearest({"a", "b"}, kHere);
  }
  std::string nearest(const std::vector<std::string>& devices, const transport::Place& here) {
    return join(nearest_transports(devices, *cluster_, here).value(), "+");
  }

  test::MemoryTransport transport_;
  std::optional<Cluster> cluster_;
};

TEST_F(TransportChoice, EachLinkSharesMemoryWhereBothItsEndsDo) {
  EXPECT_EQ(chosen(kHere), "shm+shm+shm");
  EXPECT_EQ(chosen(kHere, /*serves_shm=*/false), "shm+tcp+tcp");
  EXPECT_EQ(chosen({"another", 7, 1000}), "shm+tcp+tcp");
  EXPECT_EQ(chosen({"boot", 8, 1000}), "shm+tcp+tcp");
  EXPECT_EQ(chosen({"boot", 7, 0}), "shm+tcp+tcp");
  EXPECT_EQ(nearest({"a"}, kHere), "shm+shm");
  EXPECT_EQ(nearest({"b", "a"}, kHere), "tcp+tcp+shm");
  // Two stages of one machine that is not ours: what lies between them stays there.
  EXPECT_EQ(nearest({"a", "a"}, {"another", 7, 1000}), "tcp+shm+tcp");
  EXPECT_EQ(nearest_transports({"c"}, *cluster_, kHere).error().code, ErrorCode::kNotFound);
}

TEST_F(TransportChoice, AnUnknownPlaceIsNotShared) {
  EXPECT_FALSE(transport::share_memory({}, {}));
  EXPECT_FALSE(transport::share_memory({"boot", 0, 1}, {"boot", 0, 1}));
  EXPECT_EQ(chosen({}), "shm+tcp+tcp");
  EXPECT_EQ(nearest({"a"}, {}), "tcp+tcp");
}

TEST_F(TransportChoice, NamesOnlyWhatAPlanLeavesOpen) {
  chosen(transport::this_place());
  plan::Plan plan;
  plan.stages = {{"b", 0, 4}};
  plan.transport = "grpc";
  EXPECT_EQ(with_transports_named(plan, *cluster_).value(), plan);
  plan.transport = "auto";
  const plan::Plan named = with_transports_named(plan, *cluster_).value();
  EXPECT_EQ(named.transport, "shm");
  EXPECT_TRUE(named.transports.empty());
  plan.set_transports({"auto", "grpc"});
  EXPECT_EQ(with_transports_named(plan, *cluster_).value().transport_text(), "shm+grpc");
  plan.replicated = true;
  plan.stages = {{"a", 0, 4}, {"b", 0, 4}};
  plan.set_transports({"auto", "auto", "grpc", "auto"});
  EXPECT_EQ(with_transports_named(plan, *cluster_).value().transport_text(), "tcp+tcp+grpc+shm");
}

TEST_F(TransportChoice, ADeviceThatListensForNoneIsFoundBeforeAnythingIsDeployed) {
  chosen(transport::this_place());
  plan::Plan plan;
  plan.splits = {"percent:50"};
  plan.stages = {{"a", 0, 4}, {"b", 4, 8}};
  plan.set_transports({"shm", "shm", "shm"});
  EXPECT_TRUE(check_data_addresses(plan, *cluster_));
  plan.set_transports({"shm", "shm", "grpc"});
  const auto lacking = check_data_addresses(plan, *cluster_);
  ASSERT_FALSE(lacking);
  EXPECT_EQ(lacking.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(lacking.error().message,
              AllOf(HasSubstr("b has no data address for transport \"grpc\""),
                    HasSubstr("--data grpc=HOST:PORT")));
  plan.replicated = true;
  plan.set_transports({"shm", "grpc", "shm", "shm"});
  EXPECT_THAT(check_data_addresses(plan, *cluster_).error().message, HasSubstr("a has no data"));
}

TEST(TransportMix, IsOneNameOrOneForEachLink) {
  EXPECT_THAT(parse_transport_mix("tcp").value(), ElementsAre("tcp"));
  EXPECT_THAT(parse_transport_mix("shm + tcp+auto").value(), ElementsAre("shm", "tcp", "auto"));
  for (const char* text : {"tcp+", "+tcp", "tcp++grpc", "", "+"}) {
    EXPECT_EQ(parse_transport_mix(text).error().code, ErrorCode::kInvalidArgument) << text;
  }
  const auto unknown = parse_transport_mix("tcp+tpc+tcp");
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message, HasSubstr("\"tpc\"; there are tcp, grpc"));
  EXPECT_FALSE(parse_transport_mix("inproc")) << "no link between processes";
}

TEST(TransportMix, FitsChainsByRepeatingWhatLiesBetween) {
  const auto fitted = [](const std::string& mix, std::size_t links) {
    const auto names = fit_transports(parse_transport_mix(mix).value(), links);
    return names ? join(*names, "+") : "none";
  };
  EXPECT_EQ(fitted("tcp", 2), "tcp+tcp");
  EXPECT_EQ(fitted("tcp", 4), "tcp+tcp+tcp+tcp");
  EXPECT_EQ(fitted("shm+tcp+grpc", 2), "shm+grpc");
  EXPECT_EQ(fitted("shm+tcp+grpc", 3), "shm+tcp+grpc");
  EXPECT_EQ(fitted("shm+tcp+grpc", 5), "shm+tcp+tcp+tcp+grpc");
  EXPECT_EQ(fitted("shm+tcp+shm+grpc", 4), "shm+tcp+shm+grpc");
  EXPECT_EQ(fitted("shm+tcp+shm+grpc", 2), "shm+grpc");
  EXPECT_EQ(fitted("shm+tcp+shm+grpc", 3), "none");
  EXPECT_EQ(fitted("shm+grpc", 2), "shm+grpc");
  EXPECT_EQ(fitted("shm+grpc", 3), "none");
}

}  // namespace
}  // namespace pareto::cluster
