// The addresses and socket files that the real program listens on.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "tests/daemon/support/paretod_fixture.h"
#include "tests/support/http.h"

namespace pareto::daemon {
namespace {

namespace v1 = control::v1;
using pareto::test::Finished;
using pareto::test::Process;
using pareto::test::run;
using test::ParetodTest;
using testing::HasSubstr;

TEST_F(ParetodTest, APortInUseIsTheEnvironmentsFault) {
  Process first(arguments());
  const auto line = ready(first);
  const auto control = line["control"].get<std::string>();
  const Finished second = run(
      {"paretod", "--listen", control, "--data", "tcp=127.0.0.1:0", "--state-dir", path("second")});
  EXPECT_EQ(second.exit_code, 3);
  EXPECT_THAT(second.errors, HasSubstr(control));
  EXPECT_THAT(second.errors, HasSubstr("choose another port"));
  EXPECT_EQ(std::ranges::count(second.errors, '\n'), 1) << "gRPC says it too: " << second.errors;
  const auto tcp = line["data"]["tcp"].get<std::string>();
  const Finished third = run(
      {"paretod", "--listen", "127.0.0.1:0", "--data", "tcp=" + tcp, "--state-dir", path("third")});
  EXPECT_EQ(third.exit_code, 3);
  EXPECT_THAT(third.errors, HasSubstr(tcp));
}

TEST_F(ParetodTest, AddressesAreCheckedWhereTheyAreRead) {
  for (const char* address : {"::1:7070", "127.0.0.1:99999", "http://127.0.0.1:7070", " a:7070"}) {
    const Finished refused = run({"paretod", "--listen", address, "--check-config"});
    EXPECT_EQ(refused.exit_code, 2) << address;
    EXPECT_THAT(refused.errors, HasSubstr(address));
  }
}

TEST_F(ParetodTest, ASocketsFileIsForItsUserAndGroup) {
  const std::string file = path("control");
  Process daemon({"paretod", "--listen", "unix:" + file, "--data", "tcp=127.0.0.1:0", "--state-dir",
                  path("state"), "--ready-fd", "1"});
  EXPECT_EQ(ready(daemon)["control"], "unix:" + file);
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms{0660});
  v1::DescribeReply reply;
  EXPECT_TRUE(describe("unix:" + file, reply).ok());
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();

  const auto refused = [&](const std::string& where) {
    return run({"paretod", "--listen", "unix:" + where, "--data", "tcp=127.0.0.1:0", "--state-dir",
                path("state")});
  };
  EXPECT_EQ(refused(path("absent/control")).exit_code, 3);
  EXPECT_THAT(refused(path("absent/control")).errors, HasSubstr("No such file or directory"));
  EXPECT_EQ(refused(path(std::string(200, 'x'))).exit_code, 2);
  EXPECT_THAT(refused(path(std::string(200, 'x'))).errors, HasSubstr("at most 107 characters"));
  EXPECT_EQ(refused("").exit_code, 2);
  EXPECT_THAT(refused("").errors, HasSubstr("it names no file: write unix:/FILE"));
  const auto no_port = run(
      {"paretod", "--listen", "[::1]", "--data", "tcp=127.0.0.1:0", "--state-dir", path("state")});
  EXPECT_EQ(no_port.exit_code, 2);
  EXPECT_THAT(no_port.errors, HasSubstr("\"[::1]\" is no address (it has no port)"));
}

TEST_F(ParetodTest, ASocketsFileHasOneDaemon) {
  const std::string file = path("control");
  const auto arguments = [&](const std::string& state) {
    return std::vector<std::string>{"paretod",   "--listen",        "unix:" + file,
                                    "--data",    "tcp=127.0.0.1:0", "--state-dir",
                                    path(state), "--ready-fd",      "1"};
  };
  v1::DescribeReply reply;
  {
    Process first(arguments("first"));
    ready(first);
    const Finished second = run(arguments("second"));
    EXPECT_EQ(second.exit_code, 3);
    EXPECT_THAT(second.errors, HasSubstr(file));
    EXPECT_THAT(second.errors, HasSubstr("another process listens there"));
    EXPECT_TRUE(describe("unix:" + file, reply).ok()) << "the second one took the file";
    first.signal(SIGKILL);
    first.wait();
  }
  EXPECT_TRUE(std::filesystem::exists(file));
  Process next(arguments("first"));
  ready(next);
  EXPECT_TRUE(describe("unix:" + file, reply).ok()) << "what was left behind was not replaced";
  next.signal(SIGTERM);
  EXPECT_EQ(next.wait(), 0) << next.errors();
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_FALSE(std::filesystem::exists(file + ".lock"));
}

TEST_F(ParetodTest, OfDaemonsThatStartAtOnceOnWhatWasLeftBehindOneServes) {
  const std::string file = path("control");
  const auto start = [&](int number) {
    return std::make_unique<Process>(std::vector<std::string>{
        "paretod", "--listen", "unix:" + file, "--data", "tcp=127.0.0.1:0", "--state-dir",
        path(fmt::format("state-{}", number)), "--ready-fd", "1"});
  };
  {
    const auto killed = start(0);
    ready(*killed);
    killed->signal(SIGKILL);
    killed->wait();
  }
  ASSERT_TRUE(std::filesystem::exists(file));
  std::vector<std::unique_ptr<Process>> daemons;
  for (int i = 0; i < 4; ++i) daemons.push_back(start(i));
  std::vector<Process*> serving;
  for (const auto& daemon : daemons) {
    // Each either says that it is ready, or why it is not and ends.
    if (daemon->wait_for_output("\"control\"")) {
      serving.push_back(daemon.get());
      continue;
    }
    EXPECT_EQ(daemon->wait(), 3) << daemon->errors();
    EXPECT_THAT(daemon->errors(), HasSubstr("another process listens there"));
    EXPECT_THAT(daemon->errors(), HasSubstr("give this one another --listen"));
  }
  ASSERT_EQ(serving.size(), 1U);
  v1::DescribeReply reply;
  EXPECT_TRUE(describe("unix:" + file, reply).ok());
  serving.front()->signal(SIGTERM);
  EXPECT_EQ(serving.front()->wait(), 0) << serving.front()->errors();
}

TEST_F(ParetodTest, AnAddressThatMayStillComeIsNobodysMistake) {
  // Of TEST-NET-1, which no machine has.
  EXPECT_EQ(run({"paretod", "--insecure", "--listen", "192.0.2.1:0", "--data", "tcp=127.0.0.1:0",
                 "--state-dir", path("state")})
                .exit_code,
            1);
  const Finished data = run({"paretod", "--listen", "127.0.0.1:0", "--data", "tcp=192.0.2.1:0",
                             "--state-dir", path("state"), "--insecure"});
  EXPECT_EQ(data.exit_code, 1);
  EXPECT_THAT(data.errors, HasSubstr("192.0.2.1:0 is no address of this machine"));
}

TEST_F(ParetodTest, ANameThatDnsCannotTellYetIsNobodysMistake) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give a process a resolv.conf of its own";
  // Nobody answers there: a failure that passes.
  std::ofstream(path("resolv.conf")) << "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n";
  const auto start = [&](const std::string& listen, const std::string& data) {
    return run({"/usr/bin/unshare", "-m", "--propagation", "private", "/bin/sh", "-c",
                "mount --bind \"$0\" /etc/resolv.conf && exec \"$@\"", path("resolv.conf"),
                std::string(PARETO_BIN_DIR) + "/paretod", "--insecure", "--listen", listen,
                "--data", "tcp=" + data, "--state-dir", path("state"), "--discovery", "off"});
  };
  const Finished data = start("127.0.0.1:0", "pi-1.example.org:0");
  EXPECT_EQ(data.exit_code, 1) << data.errors;
  EXPECT_THAT(data.errors, HasSubstr("the host \"pi-1.example.org\" is not known yet"));
  const Finished control = start("pi-1.example.org:0", "127.0.0.1:0");
  EXPECT_EQ(control.exit_code, 1) << control.errors;
  EXPECT_THAT(control.errors, HasSubstr("control address pi-1.example.org:0"));
}

}  // namespace
}  // namespace pareto::daemon
