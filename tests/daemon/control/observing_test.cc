// What a daemon tells of itself while it works.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/daemon/control/control_fixture.h"

namespace pareto::daemon {
namespace {

using test::soon;
using testing::ElementsAre;

v1::ObserveReply observe(v1::Control::Stub& stub, std::uint64_t session = 0) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + test::kPatience);
  v1::ObserveRequest request;
  request.set_session(session);
  v1::ObserveReply reply;
  const auto status = stub.Observe(&context, request, &reply);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return reply;
}

std::uint64_t total(const v1::Durations& durations) {
  return std::accumulate(durations.counts().begin(), durations.counts().end(), std::uint64_t{0});
}

TEST_F(ControlTest, TellsHowItsMachineIs) {
  ControlParts parts{*store_, shards_, *stages_, network_, "pi-1", 1, {}, {}, {}};
  parts.memory = [] { return MemoryReading{10, 20, 400, 1000, 5}; };
  parts.machine_state = [] {
    control::MachineState state;
    state.temperature_celsius = 61.5;
    state.frequency_hertz = 6e8;
    state.frequency_max_hertz = 1.5e9;
    state.governors = {"powersave"};
    state.throttled = {"under_voltage"};
    state.throttle_events = 7;
    return state;
  };
  const auto server = ControlServer::start("127.0.0.1:0", std::move(parts)).value();
  const auto stub = v1::Control::NewStub(
      grpc::CreateChannel(server->address(), grpc::InsecureChannelCredentials()));
  const v1::ObserveReply reply = observe(*stub);
  EXPECT_EQ(reply.resident_bytes(), 10U);
  EXPECT_EQ(reply.machine().memory_bytes(), 1000U);
  EXPECT_EQ(reply.machine().memory_available_bytes(), 400U);
  EXPECT_EQ(reply.machine().temperature_celsius(), 61.5);
  EXPECT_EQ(reply.machine().frequency_hertz(), 6e8);
  EXPECT_EQ(reply.machine().frequency_max_hertz(), 1.5e9);
  EXPECT_THAT(reply.machine().governors(), ElementsAre("powersave"));
  EXPECT_THAT(reply.machine().throttled(), ElementsAre("under_voltage"));
  EXPECT_EQ(reply.machine().throttle_events(), 7U);
  EXPECT_EQ(reply.stages_size(), 0);
}

TEST_F(ControlTest, LeavesOutWhatItsMachineDoesNotShow) {
  const v1::ObserveReply reply = observe(*stub_);
  EXPECT_FALSE(reply.machine().has_temperature_celsius());
  EXPECT_FALSE(reply.machine().has_frequency_hertz());
  EXPECT_EQ(reply.machine().governors_size(), 0);
}

TEST_F(ControlTest, SaysWhyItsNetworkCannotBeChanged) {
  NetworkLease closed(false, [](const LeaseRequest&) { return std::make_unique<NoChange>(); });
  ControlParts parts{*store_, shards_, *stages_, closed, "pi-1", 1, {}, {}, {}};
  const auto server = ControlServer::start("127.0.0.1:0", std::move(parts)).value();
  const auto stub = v1::Control::NewStub(
      grpc::CreateChannel(server->address(), grpc::InsecureChannelCredentials()));
  EXPECT_THAT(observe(*stub).machine().netem_problem(), testing::HasSubstr("allow_netem"));
  // Where it is allowed there is a problem only for who may not.
  const auto able = network_.check_able();
  EXPECT_EQ(observe(*stub_).machine().netem_problem(), able ? "" : able.error().message);
}

TEST_F(ControlTest, TellsWhatItsStagesDo) {
  v1::OpenStageRequest open;
  open.set_session(session());
  open.set_pipeline(~std::uint64_t{0});
  open.set_stage(3);
  open.set_shard(load());
  open.set_transport("tcp");
  open.set_downstream_transport("tcp");
  open.set_queue(2);
  v1::OpenStageReply opened;
  ASSERT_TRUE(call(&v1::Control::Stub::OpenStage, open, opened).ok());
  const auto source = test::connect_as(*transport_, opened.address(),
                                       {open.pipeline(), 3, control::Role::kUpstream});
  const auto sink = test::connect_as(*transport_, opened.sink_address(),
                                     {open.pipeline(), 3, control::Role::kSink});
  ASSERT_TRUE(source && sink);
  v1::StartStageRequest start;
  start.set_session(session());
  start.set_pipeline(open.pipeline());
  start.set_stage(3);
  start.set_timeout_ms(20'000);
  v1::StartStageReply started;
  ASSERT_TRUE(call(&v1::Control::Stub::StartStage, start, started).ok());
  const v1::ObserveReply before = observe(*stub_, session());
  ASSERT_EQ(before.stages_size(), 1);
  EXPECT_EQ(before.stages(0).status().state(), "running");
  EXPECT_EQ(before.stages(0).answered(), 0U);
  EXPECT_EQ(before.stages(0).sending_ns(), 0);
  constexpr std::uint64_t kRequests = 5;
  for (std::uint64_t i = 0; i < kRequests; ++i) {
    ASSERT_TRUE((*source)->send(test::request_message(open.pipeline(), i, 1.F), soon()));
    ASSERT_TRUE((*sink)->receive(soon()));
  }
  // A request is counted after its result has gone to the sink.
  v1::ObserveReply after = observe(*stub_, session());
  for (const auto end = soon();
       after.stages(0).status().in_flight() > 0 && SteadyClock().now() < end;) {
    after = observe(*stub_, session());
  }
  const v1::StageActivity& stage = after.stages(0);
  EXPECT_EQ(stage.status().pipeline(), open.pipeline());
  EXPECT_EQ(stage.status().stage(), 3U);
  EXPECT_EQ(stage.model(), test::make_shard().model);
  EXPECT_EQ(stage.end(), test::make_shard().end);
  EXPECT_EQ(stage.answered(), kRequests);
  EXPECT_EQ(stage.status().in_flight(), 0U);
  EXPECT_EQ(static_cast<std::size_t>(stage.compute().counts_size()), kDurationBounds.size() + 1);
  EXPECT_EQ(total(stage.compute()), kRequests);
  EXPECT_EQ(total(stage.wait()), kRequests);
  EXPECT_EQ(stage.worker_ns_size(), 0) << "it has no schedule";
  EXPECT_GT(stage.receiving_ns(), 0);
  EXPECT_GT(stage.sending_ns(), 0);
  EXPECT_GT(after.clock_ns(), before.clock_ns());
  EXPECT_GE(after.cpu_ns(), before.cpu_ns());
  const v1::ObserveReply of_others = observe(*stub_);
  ASSERT_EQ(of_others.stages_size(), 1);
  EXPECT_EQ(of_others.stages(0).answered(), kRequests);
  EXPECT_EQ(of_others.stages(0).status().pipeline(), 0xFFFFFFFF00000000U)
      << "the other half is known to its coordinator and its stages";
  EXPECT_EQ(of_others.stages(0).status().shard(), "");
}

}  // namespace
}  // namespace pareto::daemon
