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

/// A coordinator: there until it is destroyed.
class Coordinator {
 public:
  explicit Coordinator(v1::Control::Stub& stub) : stream_(stub.Attend(&context_)) {
    v1::AttendReply reply;
    EXPECT_TRUE(stream_->Read(&reply));
    session_ = reply.session();
  }
  ~Coordinator() {
    context_.TryCancel();
    stream_->Finish();
  }
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;
  std::uint64_t session() const { return session_; }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AttendRequest, v1::AttendReply>> stream_;
  std::uint64_t session_ = 0;
};

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
            StatusCode::NOT_FOUND);
  EXPECT_EQ(shards_.entries().size(), 1U);
  unload.set_session(first.session());
  EXPECT_TRUE(call(&v1::Control::Stub::UnloadShard, unload, unloaded).ok());
  EXPECT_TRUE(shards_.entries().empty());
}

TEST_F(ControlTest, ASessionOfADaemonThatRanBeforeIsNoneOfThisOne) {
  SessionTable before(shards_, *stages_);
  SessionTable after(shards_, *stages_);
  const std::uint64_t session = before.begin([] {}).value();
  ASSERT_TRUE(after.begin([] {}));
  EXPECT_EQ(after.check(session).error().code, ErrorCode::kUnavailable);
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
