#include "coordinator/cluster/grpc_daemon_client.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <optional>
#include <utility>

#include "coordinator/cluster/call_result.h"
#include "coordinator/cluster/calls_under_way.h"
#include "coordinator/cluster/certificate_watch.h"
#include "coordinator/cluster/control_address.h"
#include "coordinator/cluster/control_channel.h"
#include "coordinator/cluster/control_wire.h"
#include "coordinator/cluster/observation_wire.h"
#include "coordinator/cluster/send_tensor.h"
#include "coordinator/cluster/session.h"
#include "coordinator/cluster/state_reader.h"
#include "core/base/printable.h"
#include "core/control/digest_bytes.h"
#include "core/control/wire.h"
#include "core/plan/protocol.h"
#include "core/tls/credentials.h"
#include "proto/control.grpc.pb.h"

namespace pareto::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kShortCall{10};
// The daemon undoes by itself what is left when the session ends.
constexpr seconds kUndoing{5};
constexpr seconds kMeasuring{60};
// The longest that a device whose network was made worse is left alone.
constexpr seconds kLease{15};
constexpr seconds kRenewal{3};  // a device that does not answer costs the others no lease
// The slowest link and the slowest device that a transfer or an engine build is waited for.
constexpr std::uint64_t kSlowestBytesPerSecond = 1'000'000;
constexpr std::uint64_t kSlowestLoadBytesPerSecond = 5'000'000;

/// A daemon that is called over gRPC; it overrides every method of DaemonClient.
class GrpcDaemonClient final : public DaemonClient {
 public:
  /// `dialled`: where the address of `config` leads. `own`: null for a connection without TLS.
  GrpcDaemonClient(DeviceConfig config, const std::string& dialled,
                   std::shared_ptr<const tls::Credentials> own)
      : config_(std::move(config)),
        dialled_(dialled),
        own_(std::move(own)),
        certificate_(config_, own_),
        stub_(control::v1::Control::NewStub(control_channel(dialled, own_, expected_name()))) {}

  /// Learns what the daemon is, and which protocol both speak.
  Expected<> describe(milliseconds timeout) {
    auto asked = ask_for(plan::kProtocolVersion, timeout);
    // Older daemons refuse every number but their own.
    if (!asked && asked.error().code == ErrorCode::kInvalidArgument) {
      if (auto older = ask_for(plan::kOldestProtocol, timeout)) asked = std::move(older);
    }
    PARETO_TRY(asked);
    session_ = std::make_unique<Session>(
        config_, own_, control_channel(dialled_, own_, expected_name()),
        info_.protocol >= plan::kLeasesSince, [this] { calls_.cancel(); });
    return {};
  }

  const DeviceConfig& config() const override { return config_; }
  const DeviceInfo& info() const override { return info_; }

  void name_peers(std::vector<std::string> addresses) override {
    session_->name_peers(std::move(addresses));
  }

  Expected<std::uint64_t> take(const control::DeviceUse& use, TimePoint until,
                               const Waiting& waiting) override {
    return session_->take(use, until, waiting);
  }
  void release() override { session_->release(); }

  Expected<std::vector<Digest>> missing_tensors(const std::vector<Digest>& digests) override {
    control::v1::MissingTensorsRequest request;
    for (const Digest& digest : digests) request.add_digests(control::digest_bytes(digest));
    control::v1::MissingTensorsReply reply;
    PARETO_TRY(call(&control::v1::Control::Stub::MissingTensors, request, reply, kShortCall,
                    "asking for missing tensors"));
    std::vector<Digest> missing;
    for (const std::string& bytes : reply.digests()) {
      PARETO_ASSIGN(const Digest digest,
                    with_context(control::digest_from(bytes), "{}", config_.name));
      missing.push_back(digest);
    }
    return missing;
  }

  Expected<> put_tensors(const std::vector<NamedTensor>& tensors) override {
    std::uint64_t total = 0;
    for (const NamedTensor& entry : tensors) total += entry.tensor.size_bytes();
    grpc::ClientContext context;
    const CallsUnderWay::Scope under_way(calls_, context);
    PARETO_TRY(begin(context, seconds(30) + seconds(total / kSlowestBytesPerSecond)));
    control::v1::PutTensorsReply reply;
    const auto writer = stub_->PutTensors(&context, &reply);
    bool open = true;
    for (const NamedTensor& entry : tensors) {
      if (!(open = send_tensor(*writer, entry, sent_bytes_))) break;
    }
    if (open) writer->WritesDone();
    const grpc::Status ended = writer->Finish();
    if (!ended.ok()) PARETO_TRY(check_not_lost());
    PARETO_TRY(call_result(ended, config_, "sending tensors"));
    return certificate_.check(context);
  }

  Expected<control::ShardReport> load_shard(const plan::Shard& shard,
                                            const control::ShardSettings& settings) override {
    control::v1::LoadShardRequest request = to_wire(shard, settings);
    PARETO_ASSIGN(const std::uint64_t session, session_->number());
    request.set_session(session);
    control::v1::LoadShardReply reply;
    const milliseconds timeout =
        seconds(120) + seconds(shard.weight_bytes() / kSlowestLoadBytesPerSecond);
    PARETO_TRY(
        call(&control::v1::Control::Stub::LoadShard, request, reply, timeout, "loading shard"));
    return with_context(control::from_wire(reply), "{}", name_and_address(config_));
  }

  Expected<std::vector<plan::StateTensor>> training_state(const std::string& handle,
                                                          std::uint64_t most_bytes) override {
    auto request = in_session<control::v1::TrainingStateRequest>();
    request.set_shard(handle);
    grpc::ClientContext context;
    const CallsUnderWay::Scope under_way(calls_, context);
    PARETO_TRY(begin(context, seconds(60) + seconds(most_bytes / kSlowestBytesPerSecond)));
    const auto reader = stub_->TrainingState(&context, request);
    StateReader state(most_bytes);
    control::v1::StateChunk chunk;
    Expected<> taken;
    while (taken && reader->Read(&chunk)) taken = state.take(chunk);
    if (!taken) context.TryCancel();
    const grpc::Status ended = reader->Finish();
    PARETO_TRY(with_context(taken, "{}", name_and_address(config_)));
    if (!ended.ok()) PARETO_TRY(check_not_lost());
    PARETO_TRY(call_result(ended, config_, "asking for the state of training"));
    PARETO_TRY(certificate_.check(context));
    return with_context(std::move(state).finish(), "{}", name_and_address(config_));
  }

  Expected<std::uint64_t> unload_shard(const std::string& handle) override {
    control::v1::UnloadShardRequest request;
    request.set_shard(handle);
    PARETO_ASSIGN(const std::uint64_t session, session_->number());
    request.set_session(session);
    control::v1::UnloadShardReply reply;
    PARETO_TRY(call(&control::v1::Control::Stub::UnloadShard, request, reply, kUndoing,
                    "unloading shard"));
    return reply.shards_bytes();
  }

  Expected<OpenedStage> open_stage(const control::StageRequest& stage) override {
    control::v1::OpenStageRequest request = control::to_wire(stage);
    PARETO_ASSIGN(const std::uint64_t session, session_->number());
    request.set_session(session);
    control::v1::OpenStageReply reply;
    PARETO_TRY(
        call(&control::v1::Control::Stub::OpenStage, request, reply, kShortCall, "opening stage"));
    OpenedStage opened{resolve_data_address(reply.address(), config_.address), ""};
    if (!reply.sink_address().empty()) {
      opened.sink = resolve_data_address(reply.sink_address(), config_.address);
    }
    return opened;
  }

  Expected<Nanoseconds> start_stage(std::uint64_t pipeline, std::uint32_t stage,
                                    milliseconds timeout) override {
    auto request = of_stage<control::v1::StartStageRequest>(pipeline, stage);
    request.set_timeout_ms(static_cast<std::uint32_t>(timeout.count()));
    control::v1::StartStageReply reply;
    PARETO_TRY(call(&control::v1::Control::Stub::StartStage, request, reply, timeout + seconds(2),
                    "starting stage"));
    return Nanoseconds(reply.downstream_rtt_ns());
  }

  Expected<control::StageReport> change_shard(std::uint64_t pipeline, std::uint32_t stage,
                                              const std::string& handle) override {
    auto request = of_stage<control::v1::ChangeShardRequest>(pipeline, stage);
    request.set_shard(handle);
    control::v1::ChangeShardReply reply;
    PARETO_TRY(call(&control::v1::Control::Stub::ChangeShard, request, reply, kShortCall,
                    "changing a stage's shard"));
    return with_context(control::from_wire(reply.before()), "{}", name_and_address(config_));
  }

  Expected<control::StageReport> close_stage(std::uint64_t pipeline, std::uint32_t stage) override {
    auto request = of_stage<control::v1::CloseStageRequest>(pipeline, stage);
    control::v1::CloseStageReply reply;
    PARETO_TRY(
        call(&control::v1::Control::Stub::CloseStage, request, reply, kUndoing, "closing stage"));
    return with_context(control::from_wire(reply.status()), "{}", name_and_address(config_));
  }

  Expected<DeviceStatus> status(milliseconds timeout) override {
    auto request = in_session<control::v1::StatusRequest>();
    control::v1::StatusReply reply;
    PARETO_TRY(
        call(&control::v1::Control::Stub::Status, request, reply, timeout, "asking for status"));
    return with_context(from_wire(reply), "{}", name_and_address(config_));
  }

  Expected<Observation> observe(milliseconds timeout) override {
    auto request = in_session<control::v1::ObserveRequest>();
    control::v1::ObserveReply reply;
    PARETO_TRY(call(&control::v1::Control::Stub::Observe, request, reply, timeout, "observing"));
    return with_context(observation_of(reply), "{}", name_and_address(config_));
  }

  Expected<std::vector<wire::CodecCost>> measure_codecs(const std::string& handle) override {
    auto request = in_session<control::v1::MeasureCodecsRequest>();
    request.set_shard(handle);
    control::v1::MeasureCodecsReply reply;
    PARETO_TRY(call(&control::v1::Control::Stub::MeasureCodecs, request, reply, kMeasuring,
                    "measuring codecs"));
    return with_context(from_wire(reply), "{}", name_and_address(config_));
  }

  Expected<ShardTimes> profile(const std::string& handle, std::int64_t batch, int repeats,
                               int operator_repeats, milliseconds of_a_run) override {
    auto request = profile_request(handle, batch, repeats, operator_repeats);
    request.set_session(session_->known());
    control::v1::ProfileReply reply;
    // Each kind of run has one more, that is not counted.
    const milliseconds timeout = kMeasuring + (repeats + operator_repeats + 2) * of_a_run;
    PARETO_TRY(
        call(&control::v1::Control::Stub::Profile, request, reply, timeout, "profiling a shard"));
    return with_context(from_wire(reply), "{}", name_and_address(config_));
  }

  Expected<transport::ProbeResult> probe_link(const std::string& transport,
                                              const std::string& address,
                                              const transport::ProbeOptions& options,
                                              milliseconds timeout) override {
    control::v1::ProbeLinkRequest request = probe_request(transport, address, options, timeout);
    PARETO_ASSIGN(const std::uint64_t session, session_->number());
    request.set_session(session);
    control::v1::ProbeLinkReply reply;
    PARETO_TRY(call(&control::v1::Control::Stub::ProbeLink, request, reply, timeout + seconds(2),
                    "probing a link"));
    return with_context(from_wire(reply), "{}", name_and_address(config_));
  }

  Expected<LinkSpeed> measure_link(const std::string& transport,
                                   const std::string& address) override {
    control::v1::MeasureRateRequest request = rate_request(transport, address, kMeasuring);
    PARETO_ASSIGN(const std::uint64_t session, session_->number());
    request.set_session(session);
    control::v1::MeasureRateReply reply;
    PARETO_TRY(call(&control::v1::Control::Stub::MeasureRate, request, reply,
                    kMeasuring + seconds(2), "measuring a link"));
    return with_context(from_wire(reply), "{}", name_and_address(config_));
  }

  Expected<EmulationLease> emulate(const EmulationRequest& request) override {
    control::v1::EmulateReply reply;
    PARETO_TRY(call(&control::v1::Control::Stub::Emulate, to_wire(request, kLease), reply,
                    kMeasuring, "changing its network"));
    return EmulationLease{reply.lease(), milliseconds(reply.lease_ms())};
  }

  Expected<> renew_emulation(std::uint64_t lease) override {
    control::v1::EmulateReply reply;
    return call(&control::v1::Control::Stub::Emulate, renewal_of(lease, false), reply, kRenewal,
                "keeping its network changed");
  }

  Expected<> end_emulation(std::uint64_t lease) override {
    control::v1::EmulateReply reply;
    return call(&control::v1::Control::Stub::Emulate, renewal_of(lease, true), reply, kShortCall,
                "leaving its network as it was");
  }

  Expected<ClockOffset> clock_offset(int probes) override {
    const auto now = [] {
      return Nanoseconds(std::chrono::steady_clock::now().time_since_epoch());
    };
    std::vector<ClockExchange> exchanges;
    for (int i = 0; i < probes; ++i) {
      control::v1::ClockReply reply;
      const Nanoseconds asked = now();
      PARETO_TRY(call(&control::v1::Control::Stub::Clock, control::v1::ClockRequest(), reply,
                      kShortCall, "asking for its clock"));
      exchanges.push_back(
          {asked, Nanoseconds(reply.received_ns()), Nanoseconds(reply.answered_ns()), now()});
    }
    return with_context(clock_offset_of(exchanges), "{}", name_and_address(config_));
  }

  void abandon() override {
    calls_.end();
    session_->abandon();
  }

  std::uint64_t weights_sent_bytes() const override { return sent_bytes_; }

 private:
  /// Returns the name that the certificate of the daemon has to hold.
  std::string expected_name() const {
    if (config_.identity.empty()) return tls::dns_name(tls::Role::kDevice);
    return tls::dns_name({config_.identity, tls::Role::kDevice});
  }

  Expected<> ask_for(std::uint32_t protocol, milliseconds timeout) {
    control::v1::DescribeRequest request;
    request.set_protocol(protocol);
    request.set_oldest(plan::kOldestProtocol);
    control::v1::DescribeReply reply;
    grpc::ClientContext context;
    PARETO_TRY(begin(context, timeout));
    PARETO_TRY(first_call_result(stub_->Describe(&context, request, &reply), config_, timeout));
    if (!plan::speaks(reply.protocol())) {
      return fail(ErrorCode::kInvalidArgument,
                  "{}: its daemon {} speaks protocol {}, this program speaks {} and down to {}: "
                  "install the same version on both",
                  name_and_address(config_), printable(reply.version()), reply.protocol(),
                  plan::kProtocolVersion, plan::kOldestProtocol);
    }
    info_ = from_wire(reply, config_.address);
    // Its certificate says who it is. Its own words do not count.
    PARETO_ASSIGN(info_.identity, certificate_.identity(context));
    return {};
  }

  template <typename Request>
  Request in_session() const {
    Request request;
    request.set_session(session_->known());
    return request;
  }
  template <typename Request>
  Request of_stage(std::uint64_t pipeline, std::uint32_t stage) const {
    auto request = in_session<Request>();
    request.set_pipeline(pipeline);
    request.set_stage(stage);
    return request;
  }

  /// Gives a call its deadline. Fails: as check_not_lost().
  Expected<> begin(grpc::ClientContext& context, milliseconds timeout) const {
    context.set_deadline(std::chrono::system_clock::now() + timeout);
    return check_not_lost();
  }

  template <typename Method, typename Request, typename Reply>
  Expected<> call(Method method, const Request& request, Reply& reply, milliseconds timeout,
                  const char* doing) {
    grpc::ClientContext context;
    const CallsUnderWay::Scope under_way(calls_, context);
    PARETO_TRY(begin(context, timeout));
    const grpc::Status status = ((*stub_).*method)(&context, request, &reply);
    if (!status.ok()) PARETO_TRY(check_not_lost());
    // The daemon has deadlines of its own, and a sentence about each.
    if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED &&
        status.error_message() == "Deadline Exceeded") {
      return fail(ErrorCode::kTimeout, "{}: {}: no answer within {:g} s", name_and_address(config_),
                  doing, to_seconds(timeout));
    }
    PARETO_TRY(call_result(status, config_, doing));
    return certificate_.check(context);
  }

  /// Checks that the daemon shows signs of life. Fails: kUnavailable.
  Expected<> check_not_lost() const {
    auto loss = session_ ? session_->loss() : std::nullopt;
    return loss ? Expected<>(tl::unexpected(*std::move(loss))) : Expected<>();
  }

  const DeviceConfig config_;
  const std::string dialled_;                          ///< where the configuration's address leads
  const std::shared_ptr<const tls::Credentials> own_;  ///< the configuration's; null: no TLS
  CertificateWatch certificate_;
  DeviceInfo info_;
  const std::unique_ptr<control::v1::Control::Stub> stub_;
  std::atomic<std::uint64_t> sent_bytes_{0};
  CallsUnderWay calls_;
  std::unique_ptr<Session> session_;  // last: it cancels calls
};

}  // namespace

Expected<std::unique_ptr<DaemonClient>> describe_over_grpc(
    const DeviceConfig& config, const std::string& dialled,
    std::shared_ptr<const tls::Credentials> own, milliseconds timeout) {
  auto client = std::make_unique<GrpcDaemonClient>(config, dialled, std::move(own));
  PARETO_TRY(client->describe(timeout));
  return client;
}

}  // namespace pareto::cluster
