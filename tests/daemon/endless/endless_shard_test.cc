// The real program and a real shard that never ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <csignal>
#include <future>
#include <sstream>

#include "core/plan/shard.h"
#include "tests/daemon/support/fake_runner.h"
#include "tests/daemon/support/paretod_fixture.h"

namespace pareto::daemon {
namespace {

namespace v1 = control::v1;
using pareto::test::Process;
using test::ParetodTest;
using testing::HasSubstr;

class EndlessShards : public ParetodTest {
 protected:
  static v1::LoadShardRequest request_of(const std::string& code) {
    torch::jit::Module module("__torch__.Shard");
    module.register_attribute("training", c10::BoolType::get(), false);
    module.define(code);
    std::ostringstream bytes;
    module.save(bytes);
    plan::Shard shard = test::make_shard();
    shard.archive = bytes.str();
    v1::LoadShardRequest request;
    request.set_manifest(plan::manifest_json(shard));
    request.set_archive(shard.archive);
    request.mutable_settings()->set_batch(1);
    return request;
  }
  static grpc::Status load(const std::string& address, const v1::LoadShardRequest& request) {
    const auto stub =
        v1::Control::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + test::kPatience);
    v1::LoadShardReply reply;
    return stub->LoadShard(&context, request, &reply);
  }
};

constexpr const char* kGood = R"(
def run(self, x):
    return (x + 1,)
)";

constexpr const char* kLoop = R"(
def run(self, x):
    n = 0
    while n >= 0:
        n = (n + 1) % 1000
    return (x + n,)
)";

constexpr const char* kLoopInACall = R"(
def spin(self, n: int) -> int:
    while n >= 0:
        n = (n + 1) % 1000
    return n
def run(self, x):
    return (x + self.spin(0),)
)";

TEST_F(EndlessShards, LoopsAreStoppedAlsoInCallsAndTheDaemonServesOn) {
  Process daemon(arguments({"--load-timeout", "1s"}));
  const auto control = ready(daemon)["control"].get<std::string>();
  for (const std::string& code : {std::string(kLoop), std::string(kLoopInACall)}) {
    const auto stopped = load(control, request_of(code));
    EXPECT_EQ(stopped.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << code;
    EXPECT_THAT(stopped.error_message(), HasSubstr("was stopped")) << code;
  }
  const auto good = load(control, request_of(kGood));
  EXPECT_TRUE(good.ok()) << good.error_message();
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

TEST_F(EndlessShards, WhatCannotBeStoppedMakesTheDaemonEndToBeStartedAnew) {
  Process daemon(
      arguments({"--load-timeout", "1s", "--request-timeout", "1s", "--drain-timeout", "100ms"}));
  const auto control = ready(daemon)["control"].get<std::string>();
  // One operator adds for an hour: nothing within it asks whether to go on.
  auto endless = std::async(std::launch::async, [&] {
    return load(control, request_of(R"(
def run(self, x):
    return (x + x.sum().expand([4398046511104]).sum(),)
)"));
  });
  EXPECT_EQ(daemon.wait(), 1) << daemon.errors();
  EXPECT_THAT(daemon.errors(), HasSubstr("loading shard fake [0, 2) takes longer than 1 s"));
  EXPECT_THAT(daemon.errors(), HasSubstr("for the service manager to start it again"));
  EXPECT_FALSE(endless.get().ok());
}

}  // namespace
}  // namespace pareto::daemon
