#include "coordinator/profile/link_transports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/profile/link_prober.h"
#include "tests/coordinator/support/fake_daemon.h"
#include "tests/coordinator/support/memory_transport.h"

namespace pareto::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const transport::Place kHere{"boot", 7, 1000};
const transport::Place kElsewhere{"another", 7, 1000};
constexpr std::size_t kCoordinator = 2;

class LinkTransportsTest : public testing::Test {
 protected:
  /// Device a is here; b there. Both serve shm and tcp.
  LinkTransportsTest() {
    std::vector<std::unique_ptr<cluster::DaemonClient>> devices;
    for (const auto& [name, place] : {std::pair("a", kHere), std::pair("b", kElsewhere)}) {
      auto daemon = std::make_unique<test::FakeDaemon>(name, transport_);
      daemon->set_place(place, /*serves_shm=*/true);
      daemon->serve_tcp();
      devices.push_back(std::move(daemon));
    }
    cluster_.emplace(cluster::Cluster::of(std::move(devices)));
  }

  test::MemoryTransport transport_;
  std::optional<cluster::Cluster> cluster_;
};

TEST_F(LinkTransportsTest, OfEachLinkThoseThatItCanHave) {
  const auto links = link_transports({"tcp", "shm"}, *cluster_, kHere);
  ASSERT_TRUE(links) << links.error().message;
  EXPECT_THAT((*links)[kCoordinator][0], ElementsAre("tcp", "shm"));
  EXPECT_THAT((*links)[0][kCoordinator], ElementsAre("tcp", "shm"));
  EXPECT_THAT((*links)[0][1], ElementsAre("tcp"));
  EXPECT_THAT((*links)[1][0], ElementsAre("tcp"));
  EXPECT_THAT((*links)[1][kCoordinator], ElementsAre("tcp"));
  EXPECT_THAT((*links)[0][0], IsEmpty());
  EXPECT_THAT((*links)[kCoordinator][kCoordinator], IsEmpty());
  EXPECT_THAT(names_in(*links), ElementsAre("tcp", "shm"));
}

TEST_F(LinkTransportsTest, AutoIsTheNearestOfEachLink) {
  const auto links = link_transports({"auto"}, *cluster_, kHere);
  ASSERT_TRUE(links) << links.error().message;
  EXPECT_THAT((*links)[kCoordinator][0], ElementsAre("shm"));
  EXPECT_THAT((*links)[0][kCoordinator], ElementsAre("shm"));
  EXPECT_THAT((*links)[0][1], ElementsAre("tcp"));
  EXPECT_THAT((*links)[kCoordinator][1], ElementsAre("tcp"));
  const auto both = link_transports({"auto", "tcp"}, *cluster_, kHere);
  ASSERT_TRUE(both);
  EXPECT_THAT((*both)[kCoordinator][0], ElementsAre("shm", "tcp"));
  EXPECT_THAT((*both)[0][1], ElementsAre("tcp")) << "none twice";
}

TEST_F(LinkTransportsTest, ALinkWithoutAnyIsNamed) {
  const auto none = link_transports({"shm"}, *cluster_, kHere);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(none.error().message, HasSubstr("a and b are not on one machine, or"));
  const auto unknown = link_transports({"grpc"}, *cluster_, kHere);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("b has no data address for transport \"grpc\""));
}

}  // namespace
}  // namespace pareto::profile
