// The real program: how it starts, what it says, and how it ends.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "core/base/control_group.h"
#include "core/base/file.h"
#include "core/base/process_handle.h"
#include "tests/daemon/support/paretod_fixture.h"
#include "tests/support/http.h"
#include "tests/support/tls.h"

namespace pareto::daemon {
namespace {

namespace v1 = control::v1;
using pareto::test::Finished;
using pareto::test::https_get;
using pareto::test::Process;
using pareto::test::run;
using pareto::test::TestAuthority;
using test::ParetodTest;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(ParetodTest, SaysWhereItServesAndServesThere) {
  Process daemon(arguments());
  const auto line = ready(daemon);
  ASSERT_TRUE(line.is_object()) << daemon.output();
  EXPECT_EQ(line["pid"], daemon.pid());
  const auto control = line["control"].get<std::string>();
  EXPECT_THAT(control, StartsWith("127.0.0.1:"));
  v1::DescribeReply reply;
  const auto status = describe(control, reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(reply.name(), "test-device");
  EXPECT_FALSE(reply.torch_version().empty());
  EXPECT_GT(reply.engines_size(), 0);
  ASSERT_EQ(reply.data_size(), 2);
  for (const auto& data : reply.data()) {
    EXPECT_EQ(line["data"][data.transport()], data.address());
    const auto transport = transport::make_transport(data.transport()).value();
    EXPECT_TRUE(transport->connect(data.address(), test::soon()));
  }
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

TEST_F(ParetodTest, ServesMetricsWhereItIsTold) {
  Process quiet(arguments());
  EXPECT_FALSE(ready(quiet).contains("metrics"));
  quiet.signal(SIGTERM);
  EXPECT_EQ(quiet.wait(), 0);

  Process daemon(arguments({"--metrics", "127.0.0.1:0"}));
  const auto address = ready(daemon)["metrics"].get<std::string>();
  const auto scraped = pareto::test::http_get(address, "/metrics");
  EXPECT_EQ(scraped.status, 200);
  EXPECT_THAT(scraped.body, HasSubstr("pareto_build_info{version=\"" PARETO_VERSION "\""));
  EXPECT_THAT(scraped.body, HasSubstr("pareto_shards{device=\"test-device\"} 0"));
  const Finished second = run({"paretod", "--listen", "127.0.0.1:0", "--data", "tcp=127.0.0.1:0",
                               "--state-dir", path("second"), "--metrics", address});
  EXPECT_EQ(second.exit_code, 3);
  EXPECT_THAT(second.errors, HasSubstr(address));
  EXPECT_EQ(run(arguments({"--metrics", "7073"})).exit_code, 2);
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

TEST_F(ParetodTest, ServesMetricsOverTlsWithACertificateThatIsRenewed) {
  const TestAuthority authority(folder_.path(), "authority");
  const auto files = authority.issue("device");
  Process daemon(arguments({"--metrics", "127.0.0.1:0", "--metrics-certificate", files.certificate,
                            "--metrics-key", files.key}));
  const auto address = ready(daemon)["metrics"].get<std::string>();
  EXPECT_TRUE(daemon.wait_for_output("metrics at https://" + address)) << daemon.errors();
  const auto scraped = https_get(address, "/metrics", {authority.certificate()});
  EXPECT_EQ(scraped.status, 200) << scraped.body;
  EXPECT_THAT(scraped.body, HasSubstr("pareto_certificate_expiry_timestamp_seconds{use=\"metrics\","
                                      "device=\"test-device\"} "));

  std::ofstream(files.certificate) << "nothing\n";
  daemon.signal(SIGHUP);
  EXPECT_TRUE(daemon.wait_for_output("the one before stays: certificate: " + files.certificate))
      << daemon.errors();
  EXPECT_EQ(https_get(address, "/metrics", {authority.certificate()}).status, 200);
  const TestAuthority next(folder_.path(), "next");
  next.issue("device");
  EXPECT_EQ(https_get(address, "/metrics", {next.certificate()}).status, 200);
  EXPECT_TRUE(daemon.wait_for_output("the certificate was read anew")) << daemon.errors();
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

TEST_F(ParetodTest, CertificatesAreCheckedBeforeAnythingStarts) {
  const TestAuthority authority(folder_.path(), "authority");
  const auto files = authority.issue("old", {std::chrono::hours(-2), std::chrono::hours(-1)});
  const auto run_with = [&](const std::string& certificate, const std::string& more) {
    return run(arguments({"--metrics", "127.0.0.1:0", "--metrics-certificate", certificate,
                          "--metrics-key", files.key, more}));
  };
  // At once, or when it is asked to look.
  for (const char* more : {"--allow-netem=false", "--check-config"}) {
    const Finished absent = run_with(path("absent.pem"), more);
    EXPECT_EQ(absent.exit_code, 2);
    EXPECT_THAT(absent.errors, HasSubstr("metrics: certificate: " + path("absent.pem")));
  }
  const Finished checked = run_with(files.certificate, "--check-config");
  EXPECT_EQ(checked.exit_code, 0) << checked.errors;
  EXPECT_THAT(checked.errors, HasSubstr("has expired"));
}

TEST_F(ParetodTest, EveryEndingSignalEndsItInOrder) {
  Process daemon(arguments());
  ready(daemon);
  daemon.signal(SIGINT);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

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

TEST_F(ParetodTest, AStateFolderThatMayNotBeMadeHasARemedy) {
  // Nobody may make folders there, root included.
  const Finished refused = run({"paretod", "--listen", "127.0.0.1:0", "--data", "tcp=127.0.0.1:0",
                                "--state-dir", "/sys/pareto-test"});
  EXPECT_EQ(refused.exit_code, 3) << refused.errors;
  EXPECT_THAT(refused.errors, HasSubstr("/sys/pareto-test"));
  EXPECT_THAT(refused.errors, HasSubstr("--state-dir"));
}

TEST_F(ParetodTest, AddressesAreCheckedWhereTheyAreRead) {
  for (const char* address : {"::1:7070", "127.0.0.1:99999", "http://127.0.0.1:7070", " a:7070"}) {
    const Finished refused = run({"paretod", "--listen", address, "--check-config"});
    EXPECT_EQ(refused.exit_code, 2) << address;
    EXPECT_THAT(refused.errors, HasSubstr(address));
  }
}

TEST_F(ParetodTest, AStateFolderInUseIsTheEnvironmentsFault) {
  Process first(arguments());
  ready(first);
  const Finished second = run(arguments());
  EXPECT_EQ(second.exit_code, 3);
  EXPECT_THAT(second.errors, HasSubstr(path("state")));
  EXPECT_EQ(second.errors.find("--state-dir"), second.errors.rfind("--state-dir")) << "once";
}

TEST_F(ParetodTest, WrongFlagsAndConfigs) {
  std::ofstream(path("bad.yaml")) << "name: a\nmemory_limti: 1GiB\n";
  const Finished bad = run({"paretod", "--config", path("bad.yaml")});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.errors, HasSubstr("bad.yaml:2"));
  EXPECT_THAT(bad.errors, HasSubstr("memory_limit"));
  EXPECT_EQ(run({"paretod", "--config", path("absent.yaml")}).exit_code, 2);
  EXPECT_EQ(run({"paretod", "--lisen", "x"}).exit_code, 2);
  EXPECT_EQ(run(arguments({"--cpu", "1000"})).exit_code, 2);
  EXPECT_EQ(run({"paretod", "--check-config"}, {"PARETOD_THREADS=no"}).exit_code, 2);
  const Finished checked = run({"paretod", "--cpu", "1000", "--check-config"});
  EXPECT_EQ(checked.exit_code, 2) << "what a start refuses is not fine";
  EXPECT_THAT(checked.errors, HasSubstr("none of these cores may be used here: 1000"));
}

TEST_F(ParetodTest, CoresAreThoseNamedForAllItsThreads) {
  const Finished absent = run(arguments({"--cpu", "0,1000"}));
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_THAT(absent.errors, HasSubstr("may not be used here: 1000"));
  Process daemon(arguments({"--cpu", "0", "--threads", "2"}));
  ready(daemon);
  int threads = 0;
  const std::filesystem::path tasks = "/proc/" + std::to_string(daemon.pid()) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(tasks)) {
    const auto status = read_file(thread.path() / "status", 1 << 20);
    if (!status) continue;  // it has ended
    EXPECT_THAT(*status, HasSubstr("\nCpus_allowed_list:\t0\n"));
    ++threads;
  }
  EXPECT_GT(threads, 1);
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
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
  EXPECT_EQ(run({"paretod", "--listen", "192.0.2.1:0", "--data", "tcp=127.0.0.1:0", "--state-dir",
                 path("state")})
                .exit_code,
            1);
  const Finished data = run({"paretod", "--listen", "127.0.0.1:0", "--data", "tcp=192.0.2.1:0",
                             "--state-dir", path("state")});
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
                PARETO_BIN_DIR "/paretod", "--listen", listen, "--data", "tcp=" + data,
                "--state-dir", path("state"), "--discovery", "off"});
  };
  const Finished data = start("127.0.0.1:0", "pi-1.example.org:0");
  EXPECT_EQ(data.exit_code, 1) << data.errors;
  EXPECT_THAT(data.errors, HasSubstr("the host \"pi-1.example.org\" is not known yet"));
  const Finished control = start("pi-1.example.org:0", "127.0.0.1:0");
  EXPECT_EQ(control.exit_code, 1) << control.errors;
  EXPECT_THAT(control.errors, HasSubstr("control address pi-1.example.org:0"));
}

/// A control group below this process's own that may take one core's time; nothing if there can be
/// none here.
class OneCoreGroup {
 public:
  OneCoreGroup() {
    const auto tree = find_controller("cpu");
    if (!tree) return;
    const auto group =
        own_control_group(*tree, "cpu") / ("paretod-test-" + std::to_string(::getpid()));
    std::error_code error;
    if (!std::filesystem::create_directory(group, error)) return;
    folder_ = group;
    const bool first = tree->version == 1;
    std::ofstream limit(group / (first ? "cpu.cfs_quota_us" : "cpu.max"));
    exists_ = static_cast<bool>(limit << (first ? "100000" : "100000 100000") << std::flush);
  }
  ~OneCoreGroup() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove(folder_, ignored);
  }
  OneCoreGroup(const OneCoreGroup&) = delete;
  OneCoreGroup& operator=(const OneCoreGroup&) = delete;

  bool exists() const { return exists_; }
  std::string folder() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
  bool exists_ = false;
};

TEST_F(ParetodTest, ACpuQuotaIsToldAndBoundsItsThreads) {
  const OneCoreGroup group;
  if (!group.exists()) GTEST_SKIP() << "no control group with a CPU quota can be made here";
  std::vector<std::string> command{"/bin/sh", "-c", "echo $$ > \"$0\"/cgroup.procs && exec \"$@\"",
                                   group.folder()};
  const auto daemons = arguments();
  command.push_back(PARETO_BIN_DIR "/paretod");
  command.insert(command.end(), daemons.begin() + 1, daemons.end());
  Process daemon(command);
  const auto line = ready(daemon);
  v1::DescribeReply reply;
  ASSERT_TRUE(describe(line["control"], reply).ok());
  EXPECT_DOUBLE_EQ(reply.cpu_quota(), 1);
  EXPECT_EQ(reply.threads(), 1U);
  EXPECT_THAT(reply.cpu(), HasSubstr(", CPU quota 1")) << "profiles of it are others'";
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

TEST_F(ParetodTest, WithoutANumberItsThreadsAreAllItsCores) {
  Process daemon(arguments());
  const auto line = ready(daemon);
  v1::DescribeReply reply;
  ASSERT_TRUE(describe(line["control"], reply).ok());
  if (reply.cpu_quota() == 0) {
    EXPECT_EQ(reply.threads(), reply.cores());
  }
}

TEST_F(ParetodTest, SaysWhetherItImitatesAnotherDevice) {
  for (const bool imitates : {false, true}) {
    std::vector<std::string> command = arguments();
    if (imitates) command.insert(command.end(), {"--speed", "0.5"});
    Process daemon(command);
    const auto line = ready(daemon);
    v1::DescribeReply reply;
    ASSERT_TRUE(describe(line["control"], reply).ok());
    EXPECT_EQ(reply.imitated(), imitates);
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
  }
}

TEST_F(ParetodTest, CheckingStartsNothing) {
  const std::string config = PARETO_SOURCE_DIR "/configs/paretod.yaml";
  const Finished checked =
      run({"paretod", "--config", config, "--state-dir", path("never"), "--check-config"});
  EXPECT_EQ(checked.exit_code, 0) << checked.errors;
  EXPECT_FALSE(std::filesystem::exists(path("never")));
  EXPECT_EQ(run({"paretod", "--version"}).exit_code, 0);
  EXPECT_THAT(run({"paretod", "--help"}).output, HasSubstr("--exit-with-parent"));
}

TEST_F(ParetodTest, HangUpReadsTheConfigurationAgain) {
  std::ofstream(path("paretod.yaml")) << "memory_limit: 1GiB\nthreads: 1\n";
  Process daemon(arguments({"--config", path("paretod.yaml")}));
  const auto control = ready(daemon)["control"].get<std::string>();
  // What waits is said whatever else is not.
  std::ofstream(path("paretod.yaml")) << "memory_limit: 2GiB\nthreads: 2\nlog_level: warn\n";
  daemon.signal(SIGHUP);
  EXPECT_TRUE(daemon.wait_for_output("threads stays \"1\" until a restart")) << daemon.errors();
  v1::DescribeReply reply;
  ASSERT_TRUE(describe(control, reply).ok());
  EXPECT_EQ(reply.memory_limit_bytes(), std::uint64_t{2} << 30);
  std::ofstream(path("paretod.yaml")) << "memory_limit: lots\n";
  daemon.signal(SIGHUP);
  EXPECT_TRUE(daemon.wait_for_output("nothing is changed")) << daemon.errors();
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0);
}

TEST_F(ParetodTest, EndsWithItsParent) {
  std::string command = "\"" PARETO_BIN_DIR "/";
  for (const std::string& argument : arguments({"--exit-with-parent"})) {
    command += (command.back() == '/' ? "" : " \"") + argument + "\"";
  }
  // Not the shell's last command, which it would become instead of starting it.
  Process shell({"/bin/sh", "-c", command + "; true"});
  const auto line = ready(shell);
  const auto pid = line["pid"].get<pid_t>();
  ASSERT_NE(pid, shell.pid());
  const auto daemon = ProcessHandle::open(pid);
  ASSERT_TRUE(daemon) << daemon.error().message;
  shell.signal(SIGKILL);
  EXPECT_TRUE(daemon->wait_for_end(deadline_after(std::chrono::seconds(20))))
      << "it outlives its parent";
}

TEST_F(ParetodTest, WithoutAStandardDescriptorNothingElseTakesItsNumber) {
  struct Closed {
    int number;
    const char* redirection;
    const char* ready_fd;
  };
  for (const Closed& closed : {Closed{0, "<&-", "1"}, {1, ">&-", "2"}, {2, "2>&-", "1"}}) {
    std::string command = "exec \"" PARETO_BIN_DIR "/";
    auto words = arguments();
    words.back() = closed.ready_fd;
    for (const std::string& word : words) {
      command += (command.back() == '/' ? "" : " \"") + word + "\"";
    }
    Process daemon({"/bin/sh", "-c", fmt::format("{} {}", command, closed.redirection)});
    ASSERT_TRUE(daemon.wait_for_output("\"control\"")) << closed.number << daemon.errors();
    const std::string descriptor = fmt::format("/proc/{}/fd/{}", daemon.pid(), closed.number);
    EXPECT_EQ(std::filesystem::read_symlink(descriptor), "/dev/null") << closed.number;
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.wait(), 0) << closed.number;
  }
}

TEST_F(ParetodTest, AReadyDescriptorThatIsNone) {
  auto list = arguments();
  list.back() = "99";
  const Finished finished = run(list);
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.errors, HasSubstr("--ready-fd 99"));
}

}  // namespace
}  // namespace pareto::daemon
