// What a daemon measures of itself and its links for a coordinator.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "daemon/control/session_table.h"
#include "tests/daemon/control/control_fixture.h"

namespace pareto::daemon {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;

TEST_F(ControlTest, MeasuresCodecsOnWhatAShardSendsOn) {
  v1::MeasureCodecsRequest request;
  request.set_session(session());
  v1::MeasureCodecsReply standard;
  ASSERT_TRUE(call(&v1::Control::Stub::MeasureCodecs, request, standard).ok());
  request.set_shard(load());
  v1::MeasureCodecsReply reply;
  ASSERT_TRUE(call(&v1::Control::Stub::MeasureCodecs, request, reply).ok());
  EXPECT_EQ(runs_->runs.load(), 1);
  for (const v1::MeasureCodecsReply& costs : {standard, reply}) {
    ASSERT_EQ(static_cast<std::size_t>(costs.costs_size()), wire::builtin_codecs().size() + 1);
    EXPECT_EQ(costs.costs(0).codec(), "none");
    for (const v1::CodecCost& cost : costs.costs()) EXPECT_GT(cost.bytes(), 0U) << cost.codec();
  }
  EXPECT_LT(reply.costs(0).bytes(), 1000U);
  EXPECT_GT(standard.costs(0).bytes(), 800'000U);
  EXPECT_GT(standard.costs(1).encode_ns(), 0);
  EXPECT_GT(standard.costs(1).error(), 0);
  request.set_shard("none");
  EXPECT_EQ(call(&v1::Control::Stub::MeasureCodecs, request, reply).error_code(),
            StatusCode::NOT_FOUND);
}

TEST_F(ControlTest, MeasuresItsLinkToADaemon) {
  v1::MeasureRateRequest request;
  request.set_session(session());
  request.set_transport("tcp");
  request.set_address(stages_->addresses().at(0).address);
  request.set_timeout_ms(60'000);
  v1::MeasureRateReply reply;
  const auto status = call(&v1::Control::Stub::MeasureRate, request, reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_GT(reply.bytes_per_second(), 0);
  EXPECT_GT(reply.round_trip_ns(), 0);
  request.set_transport("pigeon");
  EXPECT_EQ(call(&v1::Control::Stub::MeasureRate, request, reply).error_code(),
            StatusCode::NOT_FOUND);
}

TEST_F(ControlTest, MeasuresLinksToDevicesThatItsCoordinatorNamedOnly) {
  v1::MeasureRateRequest rate;
  rate.set_session(session());
  rate.set_transport("tcp");
  rate.set_address("127.0.0.1:22");
  v1::MeasureRateReply measured;
  const auto refused = call(&v1::Control::Stub::MeasureRate, rate, measured);
  EXPECT_EQ(refused.error_code(), StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(refused.error_message(), HasSubstr("127.0.0.1:22"));
  v1::ProbeLinkRequest probe;
  probe.set_session(session());
  probe.set_transport("tcp");
  probe.set_address("127.0.0.1:22");
  probe.add_sizes(1);
  v1::ProbeLinkReply probed;
  EXPECT_EQ(call(&v1::Control::Stub::ProbeLink, probe, probed).error_code(),
            StatusCode::PERMISSION_DENIED);
  v1::OpenStageRequest open;
  open.set_session(session());
  open.set_shard(load());
  open.set_transport("tcp");
  open.set_downstream_transport("tcp");
  open.set_downstream("127.0.0.1:22");
  open.set_queue(1);
  v1::OpenStageReply opened;
  EXPECT_EQ(call(&v1::Control::Stub::OpenStage, open, opened).error_code(),
            StatusCode::PERMISSION_DENIED);
  // The list is the coordinator's own, replaced as a whole, and bounded.
  ASSERT_TRUE(coordinator_->name_peers({}));
  rate.set_address(stages_->addresses().at(0).address);
  EXPECT_EQ(call(&v1::Control::Stub::MeasureRate, rate, measured).error_code(),
            StatusCode::PERMISSION_DENIED);
  EXPECT_FALSE(coordinator_->name_peers(
      std::vector<std::string>(SessionTable::kMostPeers + 1, "10.0.0.1:7071")));
}

TEST_F(ControlTest, Profiles) {
  v1::ProfileRequest request;
  request.set_session(session());
  request.set_shard(load());
  request.set_batch(1);
  request.set_repeats(3);
  request.set_operator_repeats(4);
  request.add_cuts(1);
  v1::ProfileReply reply;
  ASSERT_TRUE(call(&v1::Control::Stub::Profile, request, reply).ok());
  ASSERT_EQ(reply.operators_size(), 1);
  EXPECT_EQ(reply.operators(0).kind(), "fake::add");
  EXPECT_EQ(reply.operators(0).median_ns(), 4);
  ASSERT_EQ(reply.segments_size(), 1);
  EXPECT_EQ(reply.segments(0).end(), 1);
  EXPECT_EQ(reply.whole_ns_size(), 3);
}

TEST_F(ControlTest, ProbesItsLinkToADaemon) {
  v1::ProbeLinkRequest request;
  request.set_session(session());
  request.set_transport("tcp");
  request.set_address(stages_->addresses().at(0).address);
  request.set_timeout_ms(20'000);
  request.add_sizes(100'000);
  request.add_sizes(1);
  v1::ProbeLinkReply reply;
  const auto status = call(&v1::Control::Stub::ProbeLink, request, reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_GT(reply.round_trip_ns(), 0);
  ASSERT_EQ(reply.points_size(), 2);
  EXPECT_EQ(reply.points(0).bytes(), 1U);
  EXPECT_EQ(reply.points(1).bytes(), 100'000U);
  EXPECT_GT(reply.points(1).interval_ns(), 0);
  EXPECT_GT(reply.points(1).receive_cpu_ns(), 0);
}

TEST_F(ControlTest, RefusesToProbeWithoutBounds) {
  v1::ProbeLinkRequest request;
  request.set_session(session());
  request.set_transport("tcp");
  request.set_address(stages_->addresses().at(0).address);
  request.set_timeout_ms(20'000);
  request.add_sizes(std::uint64_t{1} << 40);
  v1::ProbeLinkReply reply;
  EXPECT_EQ(call(&v1::Control::Stub::ProbeLink, request, reply).error_code(),
            StatusCode::INVALID_ARGUMENT);
  for (int i = 0; i < 64; ++i) request.add_sizes(1);
  EXPECT_THAT(call(&v1::Control::Stub::ProbeLink, request, reply).error_message(),
              HasSubstr("at most 64"));
}

}  // namespace
}  // namespace pareto::daemon
