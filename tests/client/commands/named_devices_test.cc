// Commands that are to ask devices: which, and what becomes of those that do not answer.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "client/program.h"
#include "core/base/file_descriptor.h"
#include "tests/client/support/program.h"
#include "tests/support/json_schema.h"

namespace pareto::client::commands {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(Program, NoDevicesAtAllAreNotThisMachine) {
  for (const char* command : {"sweep", "devices"}) {
    refused({command, "--devices", ""}, kExitUsage, HasSubstr("it names no device"));
  }
}

TEST_F(Program, DevicesThatAreNotThere) {
  refused({"devices", "--devices", path("absent.yaml")}, kExitUsage,
          HasSubstr("paretoctl discover --write " + path("absent.yaml")));
  std::ofstream(path("inventory.yaml")) << "devices:\n  - {name: ghost, address: '127.0.0.1:1'}\n";
  const Done done = run({"devices", "--devices", path("inventory.yaml")});
  EXPECT_EQ(done.code, kExitEnvironment);
  EXPECT_THAT(done.out, HasSubstr("ghost   127.0.0.1:1  not well\n\nghost (127.0.0.1:1): no daemon "
                                  "answers (Connection refused): does paretod run there"));
}

TEST_F(Program, DevicesMayBeNamedByTheirAddressesAndByTheEnvironment) {
  const Done named = run({"devices", "--devices", "127.0.0.1:1,localhost:2"});
  EXPECT_EQ(named.code, kExitEnvironment);
  EXPECT_THAT(named.out, AllOf(HasSubstr("127.0.0.1  127.0.0.1:1  not well"),
                               HasSubstr("localhost  localhost:2  not well")));
  devices_ = "127.0.0.1:1,localhost:2";
  EXPECT_EQ(run({"devices"}).out, named.out);
  refused({"run", "--model", "squeezenet1_0", "--input-shape", "3x64x64", "--split", "none"},
          kExitEnvironment, AllOf(HasSubstr("127.0.0.1:1"), Not(HasSubstr("localhost"))));
  devices_ = "127.0.0.1:1";
  const Done given = run({"devices", "--devices", "localhost:2"});
  EXPECT_THAT(given.out, Not(HasSubstr("127.0.0.1:1"))) << "what is given counts";
  refused({"devices", "--devices", "a:7070,b:99999"}, kExitUsage, HasSubstr("\"b:99999\""));
  refused({"devices", "--devices", "http://a:7070"}, kExitUsage, HasSubstr("no scheme"));
}

/// Takes connections and answers none until it has `wanted` of them at once; then it closes all,
/// also those to come.
class HangingDevices {
 public:
  explicit HangingDevices(std::size_t wanted)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 64), 0);
    socklen_t size = sizeof address;
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    thread_ = std::jthread([this, wanted] { serve(wanted); });
  }
  ~HangingDevices() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }

  int port = 0;
  std::atomic<std::size_t> most = 0;  ///< most that were open at once

 private:
  void serve(std::size_t wanted) {
    std::vector<FileDescriptor> open;
    for (;;) {
      FileDescriptor taken(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!taken) return;
      // Those that gave up are gone.
      std::erase_if(open, [](const FileDescriptor& one) {
        pollfd peer{one.get(), POLLRDHUP, 0};
        return ::poll(&peer, 1, 0) == 1;
      });
      open.push_back(std::move(taken));
      most = std::max<std::size_t>(most, open.size());
      if (most >= wanted) open.clear();
    }
  }

  FileDescriptor listener_;
  std::jthread thread_;
};

TEST_F(Program, DevicesAreAskedAllAtOnce) {
  constexpr std::size_t kDevices = 8;
  HangingDevices hanging(kDevices);
  std::ofstream inventory(path("inventory.yaml"));
  inventory << "devices:\n";
  for (std::size_t i = 0; i < kDevices; ++i) {
    inventory << fmt::format("  - {{name: d{}, address: '127.0.0.{}:{}'}}\n", i, 1, hanging.port);
  }
  inventory.close();
  EXPECT_EQ(run({"devices", "--devices", path("inventory.yaml")}).code, kExitEnvironment);
  EXPECT_EQ(hanging.most, kDevices);
}

TEST_F(Program, WhatTheEnvironmentRefuses) {
  refused(small("run"), kExitEnvironment, HasSubstr("no-paretod"));
  refused(small("run", {"--split", "none"}), kExitEnvironment, HasSubstr("no-paretod"));
  refused(small("sweep", {"--report", path("absent/front.html")}), kExitUsage,
          AllOf(HasSubstr("--report"), HasSubstr("absent: No such file or directory")));
  refused(small("sweep", {"--report", path("")}), kExitUsage,
          AllOf(HasSubstr("--report"), HasSubstr("is a folder")));
  std::ofstream(path("inventory.yaml")) << "devices:\n  - name: ghost\n    address: 127.0.0.1:1\n";
  refused(small("sweep", {"--devices", path("inventory.yaml")}), kExitEnvironment,
          HasSubstr("ghost"));
  std::ofstream(path("typo.yaml")) << "devices:\n  - name: a\n    adress: b:1\n";
  refused(small("sweep", {"--devices", path("typo.yaml")}), kExitUsage, HasSubstr("typo.yaml:3"));
}

TEST_F(Program, DoctorSaysWhatIsMissing) {
  const Done done = run({"doctor", "--json"});
  EXPECT_EQ(done.code, kExitEnvironment) << "there is no paretod here";
  const json document = json::parse(done.out);
  EXPECT_THAT(test::violations(test::golden_schema("doctor"), document), IsEmpty());
  EXPECT_EQ(document["well"], false);
  bool found = false;
  for (const json& finding : document["findings"]) {
    if (finding["check"] == "paretod") {
      found = true;
      EXPECT_EQ(finding["severity"], "fail");
      EXPECT_THAT(finding["found"].get<std::string>(), HasSubstr("no-paretod"));
      EXPECT_THAT(finding["remedy"].get<std::string>(), HasSubstr("install or build paretod"));
    }
    EXPECT_TRUE(finding["check"] != "results" || finding["severity"] == "ok") << finding;
  }
  EXPECT_TRUE(found);
  const Done text = run({"doctor", "127.0.0.1:1"});
  EXPECT_EQ(text.code, kExitEnvironment);
  EXPECT_THAT(text.out, testing::StartsWith("where "));
  EXPECT_THAT(
      text.out,
      AllOf(HasSubstr("\nWhat to do:\n"), HasSubstr("\n  127.0.0.1:1, answers: 127.0.0.1:1: "),
            HasSubstr("\n    start paretod there"), HasSubstr(", failures: 1\n")));
}

}  // namespace
}  // namespace pareto::client::commands
