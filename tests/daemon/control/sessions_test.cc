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
