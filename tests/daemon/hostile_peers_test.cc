// What peers that mean no good can do to the real program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <csignal>
#include <fstream>
#include <vector>

#include "core/transport/socket.h"
#include "tests/daemon/support/paretod_fixture.h"

namespace pareto::daemon {
namespace {

namespace v1 = control::v1;
using pareto::test::Process;
using test::ParetodTest;
using testing::HasSubstr;

class HostilePeers : public ParetodTest {
 protected:
  /// Runs the daemon with that limit of descriptors; `limits` as prlimit(1) takes them,
  /// "SOFT:HARD".
  std::vector<std::string> with_descriptors(const std::string& limits) const {
    std::vector<std::string> list = arguments();
    list.front() = PARETO_BIN_DIR "/paretod";
    list.insert(list.begin(), {"/usr/bin/prlimit", "--nofile=" + limits});
    return list;
  }
  static FileDescriptor connect_to(const std::string& address) {
    auto connected =
        transport::open_connection(transport::parse_host_port(address).value(), test::soon());
    EXPECT_TRUE(connected) << connected.error().message;
    return connected ? *std::move(connected) : FileDescriptor();
  }
  /// Returns whether the daemon hangs up, sooner or later.
  static bool is_hung_up_on(const FileDescriptor& connection) {
    char bytes[1024];
    for (;;) {
      if (!transport::wait_until_ready(connection.get(), POLLIN, nullptr, test::soon()))
        return false;
      const ssize_t got = ::recv(connection.get(), bytes, sizeof bytes, MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return true;
    }
  }
};

TEST_F(HostilePeers, APortAnswersAgainAfterAllDescriptorsWereTaken) {
  Process daemon(with_descriptors("96:96"));
  const auto line = ready(daemon);
  const std::vector<std::string> ports{line["control"], line["data"]["grpc"], line["data"]["tcp"]};
  for (const std::string& port : ports) {
    std::vector<FileDescriptor> idle;
    for (int i = 0; i < 150; ++i) idle.push_back(connect_to(port));
    // The last of them at the latest: it had no place.
    EXPECT_TRUE(is_hung_up_on(idle.back())) << port << daemon.errors();
  }
  v1::DescribeReply reply;
  const auto described = describe(line["control"], reply);
  EXPECT_TRUE(described.ok()) << described.error_message() << daemon.errors();
  for (const char* transport : {"tcp", "grpc"}) {
    const auto link = transport::make_transport(transport).value()->connect(
        line["data"][transport].get<std::string>(), test::soon());
    EXPECT_TRUE(link) << link.error().message;
  }
  EXPECT_THAT(daemon.errors(), HasSubstr("could not be taken")) << "nobody was told";
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

TEST_F(HostilePeers, WhoConnectsAndSaysNothingIsHungUpOn) {
  Process daemon(arguments());
  const auto line = ready(daemon);
  for (const std::string& port :
       {line["control"].get<std::string>(), line["data"]["tcp"].get<std::string>()}) {
    EXPECT_TRUE(is_hung_up_on(connect_to(port))) << port;
  }
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

TEST_F(HostilePeers, AllDescriptorsThatMayBeHadAreUsed) {
  Process daemon(with_descriptors("64:2000"));
  const auto line = ready(daemon);
  std::ifstream limits("/proc/" + std::to_string(line["pid"].get<pid_t>()) + "/limits");
  const std::string text(std::istreambuf_iterator<char>(limits), {});
  EXPECT_THAT(text, testing::ContainsRegex("Max open files +2000 +2000"));
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

}  // namespace
}  // namespace pareto::daemon
