// The real program and real shards that never end, or want more than to compute.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <csignal>
#include <future>
#include <map>
#include <mutex>
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
  static std::unique_ptr<v1::Control::Stub> stub_of(const std::string& address) {
    return v1::Control::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  }
  /// Returns the session of this test with a daemon, which lasts as long as the test.
  std::uint64_t session_with(const std::string& address) {
    const std::lock_guard lock(mutex_);
    Session& session = sessions_[address];
    if (session.stream == nullptr) {
      session.stub = stub_of(address);
      session.stream = session.stub->Attend(&session.context);
      v1::AttendReply reply;
      EXPECT_TRUE(session.stream->Write({}) && session.stream->Read(&reply));
      session.number = reply.session();
    }
    return session.number;
  }
  grpc::Status load(const std::string& address, v1::LoadShardRequest request,
                    std::string* handle = nullptr) {
    request.set_session(session_with(address));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + test::kPatience);
    v1::LoadShardReply reply;
    const auto status = stub_of(address)->LoadShard(&context, request, &reply);
    if (handle != nullptr) *handle = reply.shard();
    return status;
  }
  /// Runs a loaded shard once on its example inputs.
  grpc::Status run_once(const std::string& address, const std::string& handle) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + test::kPatience);
    v1::ProfileRequest request;
    request.set_session(session_with(address));
    request.set_shard(handle);
    request.set_batch(1);
    request.set_repeats(1);
    v1::ProfileReply reply;
    return stub_of(address)->Profile(&context, request, &reply);
  }

 private:
  struct Session {
    ~Session() {
      if (stream == nullptr) return;
      context.TryCancel();
      stream->Finish();
    }
    grpc::ClientContext context;
    std::unique_ptr<v1::Control::Stub> stub;
    std::unique_ptr<grpc::ClientReaderWriter<v1::AttendRequest, v1::AttendReply>> stream;
    std::uint64_t number = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Session> sessions_;  ///< sessions by the daemon's address
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

TEST_F(EndlessShards, WantingMoreThanToComputeIsRefusedByName) {
  Process daemon(arguments());
  const auto control = ready(daemon)["control"].get<std::string>();
  struct Case {
    const char* statement;
    const char* message;
  };
  for (const Case& hostile : {Case{"x = x + torch.from_file(\"/etc/passwd\", False, 16)",
                                   "aten::from_file: it reads or writes"},
                              Case{"torch.save(x, \"hostile\")", "aten::save: it reads or writes"},
                              Case{"print(x)", "no shard may use"}}) {
    const auto refused =
        load(control, request_of(fmt::format("\ndef run(self, x):\n    {}\n    return (x,)\n",
                                             hostile.statement)));
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED) << hostile.statement;
    EXPECT_THAT(refused.error_message(), HasSubstr(hostile.message)) << hostile.statement;
  }
  auto changed = request_of(kGood);
  changed.mutable_archive()->back() ^= 1;
  const auto refused = load(control, changed);
  EXPECT_FALSE(refused.ok());
  EXPECT_THAT(refused.error_message(), HasSubstr("is not the one of its manifest"));
  EXPECT_TRUE(load(control, request_of(kGood)).ok());
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

TEST_F(EndlessShards, TakingMemoryWithoutEndFailsTheRequestAlone) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers have an operator new of their own, which counts nothing";
#endif
  Process daemon(arguments({"--request-memory", "64MiB"}));
  const auto control = ready(daemon)["control"].get<std::string>();
  std::string good;
  ASSERT_TRUE(load(control, request_of(kGood), &good).ok());
  for (const char* const code : {R"(
def run(self, x):
    kept = [x]
    while bool(x.numel() > 0):
        kept.append(torch.ones([1000000]))
    return (x + len(kept),)
)",
                                 R"(
def run(self, x):
    kept = [0]
    while bool(x.numel() > 0):
        kept.append(1)
    return (x + len(kept),)
)"}) {
    std::string handle;
    const auto loaded = load(control, request_of(code), &handle);
    ASSERT_TRUE(loaded.ok()) << loaded.error_message();
    const auto refused = run_once(control, handle);
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_THAT(refused.error_message(), HasSubstr("takes more than its 64 MiB"));
    EXPECT_TRUE(run_once(control, good).ok());
  }
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

}  // namespace
}  // namespace pareto::daemon
