// What a coordinator holds, and what becomes of it when the coordinator goes.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "daemon/control/session_table.h"
#include "tests/daemon/control/control_fixture.h"

namespace pareto::daemon {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;

TEST_F(ControlTest, WhatACoordinatorHoldsGoesWithIt) {
  auto request = load_request(test::make_shard());
  v1::LoadShardReply loaded;
  {
    const Coordinator coordinator(*stub_);
    request.set_session(coordinator.session());
    ASSERT_TRUE(call(&v1::Control::Stub::LoadShard, request, loaded).ok());
    ASSERT_TRUE(call(&v1::Control::Stub::LoadShard, request, loaded).ok());
    v1::OpenStageRequest open;
    open.set_pipeline(5);
    open.set_shard(loaded.shard());
    open.set_transport("tcp");
    open.set_downstream_transport("tcp");
    open.set_queue(1);
    open.set_session(coordinator.session());
    v1::OpenStageReply opened;
    ASSERT_TRUE(call(&v1::Control::Stub::OpenStage, open, opened).ok());
    EXPECT_EQ(shards_.entries().at(0).users, 2U);
    EXPECT_EQ(stages_->status().size(), 1U);
  }
  EXPECT_TRUE(holds_nothing());
  const auto late = call(&v1::Control::Stub::LoadShard, request, loaded);
  EXPECT_EQ(late.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_THAT(late.error_message(), HasSubstr("session"));
  EXPECT_TRUE(shards_.entries().empty());
}

TEST_F(ControlTest, ObserveTellsOfPipelinesOfOtherCoordinators) {
  const Coordinator one(*stub_);
  const Coordinator other(*stub_);
  const auto open = [&](std::uint64_t pipeline) {
    auto load = load_request(test::make_shard());
    load.set_session(one.session());
    v1::LoadShardReply loaded;
    EXPECT_TRUE(call(&v1::Control::Stub::LoadShard, load, loaded).ok());
    v1::OpenStageRequest request;
    request.set_pipeline(pipeline);
    request.set_shard(loaded.shard());
    request.set_transport("tcp");
    request.set_downstream_transport("tcp");
    request.set_queue(1);
    request.set_session(one.session());
    v1::OpenStageReply opened;
    EXPECT_TRUE(call(&v1::Control::Stub::OpenStage, request, opened).ok());
  };
  const auto seen_by = [&](std::uint64_t session) {
    v1::ObserveRequest request;
    request.set_session(session);
    v1::ObserveReply reply;
    EXPECT_TRUE(call(&v1::Control::Stub::Observe, request, reply).ok());
    return std::pair(reply.other_coordinators(), reply.other_pipelines());
  };
  EXPECT_EQ(seen_by(0), std::pair(0U, 0U)) << "who is there and has nothing is no company";
  open(5);
  open(6);
  EXPECT_EQ(seen_by(0), std::pair(1U, 2U));
  EXPECT_EQ(seen_by(other.session()), std::pair(1U, 2U));
  EXPECT_EQ(seen_by(one.session()), std::pair(0U, 0U)) << "its own";
}

TEST_F(ControlTest, StatusTellsWhetherASessionIsStillOpen) {
  auto load = load_request(test::make_shard());
  v1::LoadShardReply loaded;
  v1::StatusRequest request;
  v1::StatusReply reply;
  {
    const Coordinator coordinator(*stub_);
    load.set_session(coordinator.session());
    ASSERT_TRUE(call(&v1::Control::Stub::LoadShard, load, loaded).ok());
    request.set_session(coordinator.session());
    EXPECT_TRUE(call(&v1::Control::Stub::Status, request, reply).ok());
  }
  EXPECT_TRUE(holds_nothing());
  EXPECT_EQ(call(&v1::Control::Stub::Status, request, reply).error_code(), StatusCode::UNAVAILABLE);
  EXPECT_TRUE(call(&v1::Control::Stub::Status, v1::StatusRequest(), reply).ok());
}

TEST_F(ControlTest, OneCoordinatorCannotUnloadAnothersShard) {
  const Coordinator first(*stub_);
  const Coordinator second(*stub_);
  auto request = load_request(test::make_shard());
  request.set_session(first.session());
  v1::LoadShardReply loaded;
  ASSERT_TRUE(call(&v1::Control::Stub::LoadShard, request, loaded).ok());
  v1::UnloadShardRequest unload;
  unload.set_shard(loaded.shard());
  unload.set_session(second.session());
  v1::UnloadShardReply unloaded;
  EXPECT_EQ(call(&v1::Control::Stub::UnloadShard, unload, unloaded).error_code(),
            StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(shards_.entries().size(), 1U);
  unload.set_session(first.session());
  EXPECT_TRUE(call(&v1::Control::Stub::UnloadShard, unload, unloaded).ok());
  EXPECT_TRUE(shards_.entries().empty());
}

TEST_F(ControlTest, ASessionOfADaemonThatRanBeforeIsNoneOfThisOne) {
  SessionTable before(shards_, *stages_);
  SessionTable after(shards_, *stages_);
  const std::uint64_t session = before.begin({}, [] {}).value();
  ASSERT_TRUE(after.begin({}, [] {}));
  EXPECT_EQ(after.check(session, {}).error().code, ErrorCode::kUnavailable);
}

TEST_F(ControlTest, ASessionIsItsOwnersByCertificate) {
  SessionTable table(shards_, *stages_);
  const Caller owner{tls::Identity{"laptop", tls::Role::kCoordinator}, "10.0.0.1"};
  const std::uint64_t session = table.begin(owner, [] {}).value();
  EXPECT_TRUE(table.check(session, owner));
  EXPECT_TRUE(table.check(session, {owner.identity, "10.0.0.7"})) << "it moved";
  for (const Caller& other : {Caller{tls::Identity{"desk", tls::Role::kCoordinator}, "10.0.0.1"},
                              Caller{std::nullopt, "10.0.0.1"}}) {
    EXPECT_EQ(table.check(session, other).error().code, ErrorCode::kPermission);
  }
}

TEST_F(ControlTest, SessionsOfOneCallerAreBounded) {
  SessionTable table(shards_, *stages_);
  const Caller greedy{std::nullopt, "10.0.0.1"};
  for (std::size_t i = 0; i < SessionTable::kMostSessionsOfOne; ++i) {
    ASSERT_TRUE(table.begin(greedy, [] {}));
  }
  EXPECT_EQ(table.begin(greedy, [] {}).error().code, ErrorCode::kExhausted);
  const auto other = table.begin({std::nullopt, "10.0.0.2"}, [] {});
  ASSERT_TRUE(other);
  table.end(*other);
  const std::uint64_t session = table.begin({std::nullopt, "10.0.0.2"}, [] {}).value();
  for (std::size_t i = 0; i < SessionTable::kMostShards; ++i) {
    ASSERT_TRUE(table.hold_shard(session, "one"));
  }
  EXPECT_EQ(table.hold_shard(session, "one").error().code, ErrorCode::kExhausted);
  for (std::uint32_t i = 0; i < SessionTable::kMostStages; ++i) {
    ASSERT_TRUE(table.hold_stage(session, 7, i));
  }
  EXPECT_EQ(table.hold_stage(session, 8, 0).error().code, ErrorCode::kExhausted);
}

TEST_F(ControlTest, NothingIsDoneForACallWithoutASession) {
  auto load = load_request(test::make_shard());
  load.set_session(0);
  v1::LoadShardReply loaded;
  const auto refused = call(&v1::Control::Stub::LoadShard, load, loaded);
  EXPECT_EQ(refused.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_THAT(refused.error_message(), HasSubstr("Attend"));
}

TEST_F(ControlTest, NobodyTouchesAnothersStageOrShard) {
  const std::string shard = this->load();
  v1::OpenStageRequest open;
  open.set_session(session());
  open.set_pipeline(5);
  open.set_shard(shard);
  open.set_transport("tcp");
  open.set_downstream_transport("tcp");
  open.set_queue(1);
  v1::OpenStageReply opened;
  ASSERT_TRUE(call(&v1::Control::Stub::OpenStage, open, opened).ok());
  const Coordinator other(*stub_);
  const auto code = [&](auto method, auto request, auto reply) {
    request.set_session(other.session());
    return call(method, request, reply).error_code();
  };
  v1::StartStageRequest start;
  start.set_pipeline(5);
  EXPECT_EQ(code(&v1::Control::Stub::StartStage, start, v1::StartStageReply()),
            StatusCode::PERMISSION_DENIED);
  v1::ChangeShardRequest change;
  change.set_pipeline(5);
  change.set_shard(shard);
  EXPECT_EQ(code(&v1::Control::Stub::ChangeShard, change, v1::ChangeShardReply()),
            StatusCode::PERMISSION_DENIED);
  v1::CloseStageRequest close;
  close.set_pipeline(5);
  EXPECT_EQ(code(&v1::Control::Stub::CloseStage, close, v1::CloseStageReply()),
            StatusCode::PERMISSION_DENIED);
  open.set_pipeline(6);
  EXPECT_EQ(code(&v1::Control::Stub::OpenStage, open, v1::OpenStageReply()),
            StatusCode::PERMISSION_DENIED);
  v1::ProfileRequest profile;
  profile.set_shard(shard);
  EXPECT_EQ(code(&v1::Control::Stub::Profile, profile, v1::ProfileReply()),
            StatusCode::PERMISSION_DENIED);
  v1::MeasureCodecsRequest codecs;
  codecs.set_shard(shard);
  EXPECT_EQ(code(&v1::Control::Stub::MeasureCodecs, codecs, v1::MeasureCodecsReply()),
            StatusCode::PERMISSION_DENIED);
  v1::TrainingStateRequest training;
  training.set_shard(shard);
  training.set_session(other.session());
  grpc::ClientContext context;
  v1::StateChunk chunk;
  const auto state = stub_->TrainingState(&context, training);
  EXPECT_FALSE(state->Read(&chunk));
  EXPECT_EQ(state->Finish().error_code(), StatusCode::PERMISSION_DENIED);
  v1::StatusRequest ask;
  ask.set_session(other.session());
  v1::StatusReply seen;
  ASSERT_TRUE(call(&v1::Control::Stub::Status, ask, seen).ok());
  EXPECT_EQ(seen.stages_size() + seen.shards_size(), 0);
  EXPECT_EQ(seen.other_stages(), 1U);
  EXPECT_EQ(seen.other_shards(), 1U);
  EXPECT_EQ(stages_->status().size(), 1U);
}

/// A table whose clock is the test's, and those who use its device.
class Leases : public ControlTest {
 protected:
  using Seconds = std::chrono::duration<double>;

  TimePoint at(double second) const {
    return begin_ + std::chrono::duration_cast<Nanoseconds>(Seconds(second));
  }
  std::uint64_t begin(const std::string& host) {
    return table_.begin({std::nullopt, host}, [this, host] { cancelled_.push_back(host); }).value();
  }
  Expected<SessionTable::Turn> attend(std::uint64_t session, const control::DeviceUse& use,
                                      double second = 0, Nanoseconds slowest = {}) {
    return table_.attend(session, {{}, true, use, slowest}, at(second));
  }
  static control::DeviceUse shared(const std::string& command, std::uint64_t program) {
    return {.command = command, .user = command + "er", .program = program};
  }
  static control::DeviceUse alone(const std::string& command, std::uint64_t program,
                                  bool waits = false) {
    control::DeviceUse use = shared(command, program);
    use.exclusive = true;
    use.waits = waits;
    return use;
  }
  static control::DeviceUse term(std::uint64_t number, std::uint64_t program) {
    control::DeviceUse use = shared("deploy", program);
    use.lease = "deploy-1";
    use.term = number;
    return use;
  }

  SessionTable table_{shards_, *stages_};
  const TimePoint begin_ = std::chrono::steady_clock::now();
  std::vector<std::string> cancelled_;
};

TEST_F(Leases, OneThatIsNotHeardOfIsEndedAndToldWhy) {
  const std::uint64_t silent = begin("silent");
  const std::uint64_t beating = begin("beating");
  const std::uint64_t old = begin("old");
  ASSERT_TRUE(attend(silent, {}));
  ASSERT_TRUE(attend(beating, {}));
  ASSERT_TRUE(table_.attend(old, {}, at(0))) << "one of protocol 8 never beats";
  ASSERT_TRUE(attend(beating, {}, 3));
  table_.judge(at(3.9), {});
  EXPECT_THAT(cancelled_, testing::IsEmpty());
  table_.judge(at(4.1), {});
  table_.judge(at(4.2), {});
  EXPECT_THAT(cancelled_, testing::ElementsAre("silent")) << "once, and nobody else";
  table_.end(silent);
  const Error error = table_.check(silent, {std::nullopt, "silent"}).error();
  EXPECT_EQ(error.code, ErrorCode::kUnavailable);
  EXPECT_THAT(error.message, HasSubstr("no sign of life for 4.1 s"));
}

TEST_F(Leases, ADaemonThatStoodStillJudgesNobodyForIt) {
  const std::uint64_t session = begin("laptop");
  ASSERT_TRUE(attend(session, {}));
  table_.judge(at(20), std::chrono::seconds(19));
  EXPECT_THAT(cancelled_, testing::IsEmpty());
  table_.judge(at(24.5), {});
  EXPECT_THAT(cancelled_, testing::ElementsAre("laptop"));
}

TEST_F(Leases, AreLongerOnSlowLinks) {
  const std::uint64_t session = begin("far");
  ASSERT_TRUE(attend(session, {}, 0, std::chrono::seconds(2)));
  table_.judge(at(15.9), {});
  EXPECT_THAT(cancelled_, testing::IsEmpty());
  table_.judge(at(16.1), {});
  EXPECT_THAT(cancelled_, testing::ElementsAre("far"));
  EXPECT_EQ(control::lease_for(std::chrono::hours(1'000'000)), control::kLongestLease);
}

TEST_F(Leases, OneThatMeasuresIsAlone) {
  const std::uint64_t deploy = begin("a");
  const std::uint64_t sweep = begin("b");
  ASSERT_TRUE(attend(deploy, shared("deploy", 1)));
  const auto refused = attend(sweep, alone("sweep", 2), 185);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(refused.error().message, "it is used by deploy of deployer (since 3 min)");
  EXPECT_TRUE(attend(sweep, shared("sweep", 2))) << "--share";
  table_.end(deploy);
  table_.end(sweep);
  const std::uint64_t again = begin("b");
  ASSERT_TRUE(attend(again, alone("sweep", 2)));
  EXPECT_FALSE(attend(begin("a"), shared("deploy", 1)));
  EXPECT_FALSE(attend(begin("old"), {})) << "nor one that does not say what it does";
  EXPECT_TRUE(attend(begin("b"), alone("sweep", 2))) << "another session of the same program";
}

TEST_F(Leases, TurnsComeInOrder) {
  const std::uint64_t first = begin("a");
  const std::uint64_t second = begin("b");
  const std::uint64_t third = begin("c");
  ASSERT_TRUE(attend(first, alone("sweep", 1, true)).value().granted);
  for (const auto& [session, program] : {std::pair(second, 2), std::pair(third, 3)}) {
    const auto turn = attend(session, alone("sweep", static_cast<std::uint64_t>(program), true));
    EXPECT_FALSE(turn.value().granted);
    EXPECT_EQ(turn.value().before.front().command, "sweep");
  }
  EXPECT_EQ(table_.holders(0, at(0)).size(), 1U) << "those who wait hold nothing";
  table_.end(first);
  EXPECT_FALSE(attend(third, alone("sweep", 3, true)).value().granted);
  EXPECT_TRUE(attend(second, alone("sweep", 2, true)).value().granted);
  table_.end(second);
  EXPECT_TRUE(attend(third, alone("sweep", 3, true)).value().granted);
}

TEST_F(Leases, ATermIsOverOnceAnotherBegan) {
  const std::uint64_t primary = begin("a");
  ASSERT_TRUE(attend(primary, term(1, 1)));
  EXPECT_FALSE(attend(begin("b"), term(0, 2))) << "one program at a time";
  table_.end(primary);
  const std::uint64_t standby = begin("b");
  EXPECT_EQ(attend(standby, term(0, 2)).value().term, 1U);
  ASSERT_TRUE(attend(standby, term(2, 2)));
  EXPECT_EQ(table_.holders(0, at(0)).front().term, 2U);
  table_.end(standby);
  for (const std::uint64_t number : {1U, 2U}) {
    const auto stale = attend(begin("a"), term(number, 1));
    ASSERT_FALSE(stale) << number;
    EXPECT_EQ(stale.error().code, ErrorCode::kPermission);
    EXPECT_THAT(stale.error().message, HasSubstr("taken over with term 2"));
  }
  EXPECT_TRUE(attend(begin("b"), term(2, 2))) << "its own goes on";
}

TEST_F(ControlTest, ASilentCoordinatorIsGoneWithinItsLease) {
  grpc::ClientContext context;
  const auto stream = stub_->Attend(&context);
  v1::AttendRequest request;
  request.set_beats(true);
  request.mutable_use()->set_command("sweep\n");
  v1::AttendReply reply;
  ASSERT_TRUE(stream->Write(request));
  EXPECT_FALSE(stream->Read(&reply)) << "a name that is none";
  EXPECT_EQ(stream->Finish().error_code(), StatusCode::INVALID_ARGUMENT);

  grpc::ClientContext again;
  const auto silent = stub_->Attend(&again);
  request.mutable_use()->set_command("sweep");
  ASSERT_TRUE(silent->Write(request));
  ASSERT_TRUE(silent->Read(&reply));
  auto load = load_request(test::make_shard());
  load.set_session(reply.session());
  v1::LoadShardReply loaded;
  ASSERT_TRUE(call(&v1::Control::Stub::LoadShard, load, loaded).ok());
  v1::ObserveReply seen;
  ASSERT_TRUE(call(&v1::Control::Stub::Observe, v1::ObserveRequest(), seen).ok());
  ASSERT_EQ(seen.holders_size(), 2) << "the fixture's, and this one";
  EXPECT_FALSE(silent->Read(&reply)) << "the daemon ends it";
  silent->Finish();
  EXPECT_TRUE(holds_nothing());
  const auto late = call(&v1::Control::Stub::LoadShard, load, loaded);
  EXPECT_EQ(late.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_THAT(late.error_message(), HasSubstr("no sign of life"));
}

TEST_F(ControlTest, StoppingEndsSessions) {
  const Coordinator coordinator(*stub_);
  auto request = load_request(test::make_shard());
  request.set_session(coordinator.session());
  v1::LoadShardReply loaded;
  ASSERT_TRUE(call(&v1::Control::Stub::LoadShard, request, loaded).ok());
  // Would otherwise wait for the coordinator, until its deadline.
  server_->stop(std::chrono::steady_clock::now() + std::chrono::hours(1));
  EXPECT_TRUE(shards_.entries().empty());
}

}  // namespace
}  // namespace pareto::daemon
