#include "coordinator/cluster/grpc_daemon_client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "coordinator/cluster/call_result.h"
#include "coordinator/cluster/control_address.h"
#include "coordinator/cluster/control_channel.h"
#include "coordinator/cluster/control_wire.h"
#include "coordinator/cluster/observation_wire.h"
#include "coordinator/cluster/state_reader.h"
#include "coordinator/cluster/tls_problem.h"
#include "core/base/printable.h"
#include "core/control/digest_bytes.h"
#include "core/control/wire.h"
#include "core/plan/protocol.h"
#include "core/tls/credentials.h"
#include "core/transport/address.h"
#include "core/transport/grpc/secure.h"
#include "proto/control.grpc.pb.h"

namespace pareto::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
constexpr seconds kShortCall{10};
// For undoing something: the daemon undoes by itself what is left when the session ends.
constexpr seconds kUndoing{5};
constexpr seconds kMeasuring{60};
// The longest that a device whose network was made worse is left alone.
constexpr seconds kLease{15};
// One device that does not answer costs the others no lease.
constexpr seconds kRenewal{3};
// To find out why no call came through.
constexpr milliseconds kDiagnosing{2000};
// The slowest link and the slowest device that a transfer or an engine build is waited for.
constexpr std::uint64_t kSlowestBytesPerSecond = 1'000'000;
constexpr std::uint64_t kSlowestLoadBytesPerSecond = 5'000'000;

class GrpcDaemonClient final : public DaemonClient {
 public:
  /// `dialled`: where the address of `config` leads. `own`: null for a connection without TLS.
  GrpcDaemonClient(DeviceConfig config, const std::string& dialled, const tls::Credentials* own)
      : config_(std::move(config)),
        own_(own),
        stub_(control::v1::Control::NewStub(control_channel(dialled, own, expected_name()))) {}

  ~GrpcDaemonClient() override {
    // The daemon undoes what is left of the session when the call ends.
    if (!attendance_) return;
    attended_.TryCancel();
    attendance_->Finish();
  }

  Expected<> describe(milliseconds timeout) {
    control::v1::DescribeRequest request;
    request.set_protocol(plan::kProtocolVersion);
    control::v1::DescribeReply reply;
    grpc::ClientContext context;
    set_deadline(context, timeout);
    PARETO_TRY(first_call_result(stub_->Describe(&context, request, &reply), config_, timeout));
    if (reply.protocol() != plan::kProtocolVersion) {
      return fail(ErrorCode::kInvalidArgument,
                  "{}: its daemon {} speaks protocol {}, this program speaks {}: install the "
                  "same version on both",
                  name_and_address(config_), printable(reply.version()), reply.protocol(),
                  plan::kProtocolVersion);
    }
    info_ = from_wire(reply, config_.address);
    return see_certificate(*context.auth_context());
  }

  const DeviceConfig& config() const override { return config_; }
  const DeviceInfo& info() const override { return info_; }

  void name_peers(std::vector<std::string> addresses) override {
    const std::lock_guard lock(attendance_mutex_);
    if (addresses == peers_) return;
    peers_ = std::move(addresses);
    told_peers_ = false;
  }

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
    const UnderWay under_way(*this, context);
    set_deadline(context, seconds(30) + seconds(total / kSlowestBytesPerSecond));
    control::v1::PutTensorsReply reply;
    const auto writer = stub_->PutTensors(&context, &reply);
    bool open = true;
    for (const NamedTensor& entry : tensors) {
      if (!(open = put(*writer, entry))) break;
    }
    if (open) writer->WritesDone();
    return call_result(writer->Finish(), config_, "sending tensors");
  }

  Expected<control::ShardReport> load_shard(const plan::Shard& shard,
                                            const control::ShardSettings& settings) override {
    control::v1::LoadShardRequest request = to_wire(shard, settings);
    PARETO_ASSIGN(const std::uint64_t session, attend());
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
    control::v1::TrainingStateRequest request;
    request.set_shard(handle);
    request.set_session(session_);
    grpc::ClientContext context;
    const UnderWay under_way(*this, context);
    set_deadline(context, seconds(60) + seconds(most_bytes / kSlowestBytesPerSecond));
    const auto reader = stub_->TrainingState(&context, request);
    StateReader state(most_bytes);
    control::v1::StateChunk chunk;
    Expected<> taken;
    while (taken && reader->Read(&chunk)) taken = state.take(chunk);
    if (!taken) context.TryCancel();
    const grpc::Status ended = reader->Finish();
    PARETO_TRY(with_context(taken, "{}", name_and_address(config_)));
    PARETO_TRY(call_result(ended, config_, "asking for the state of training"));
    return with_context(std::move(state).finish(), "{}", name_and_address(config_));
  }

  Expected<std::uint64_t> unload_shard(const std::string& handle) override {
    control::v1::UnloadShardRequest request;
    request.set_shard(handle);
    PARETO_ASSIGN(const std::uint64_t session, attend());
    request.set_session(session);
    control::v1::UnloadShardReply reply;
    PARETO_TRY(call(&control::v1::Control::Stub::UnloadShard, request, reply, kUndoing,
                    "unloading shard"));
    return reply.shards_bytes();
  }

  Expected<OpenedStage> open_stage(const control::StageRequest& stage) override {
    control::v1::OpenStageRequest request = control::to_wire(stage);
    PARETO_ASSIGN(const std::uint64_t session, attend());
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
    control::v1::StartStageRequest request;
    request.set_pipeline(pipeline);
    request.set_stage(stage);
    request.set_timeout_ms(static_cast<std::uint32_t>(timeout.count()));
    request.set_session(session_);
    control::v1::StartStageReply reply;
    PARETO_TRY(call(&control::v1::Control::Stub::StartStage, request, reply, timeout + seconds(2),
                    "starting stage"));
    return Nanoseconds(reply.downstream_rtt_ns());
  }

  Expected<control::StageReport> change_shard(std::uint64_t pipeline, std::uint32_t stage,
                                              const std::string& handle) override {
    control::v1::ChangeShardRequest request;
    request.set_pipeline(pipeline);
    request.set_stage(stage);
    request.set_shard(handle);
    request.set_session(session_);
    control::v1::ChangeShardReply reply;
    PARETO_TRY(call(&control::v1::Control::Stub::ChangeShard, request, reply, kShortCall,
                    "changing a stage's shard"));
    return with_context(control::from_wire(reply.before()), "{}", name_and_address(config_));
  }

  Expected<control::StageReport> close_stage(std::uint64_t pipeline, std::uint32_t stage) override {
    control::v1::CloseStageRequest request;
    request.set_pipeline(pipeline);
    request.set_stage(stage);
    request.set_session(session_);
    control::v1::CloseStageReply reply;
    PARETO_TRY(
        call(&control::v1::Control::Stub::CloseStage, request, reply, kUndoing, "closing stage"));
    return with_context(control::from_wire(reply.status()), "{}", name_and_address(config_));
  }

  Expected<DeviceStatus> status(milliseconds timeout) override {
    control::v1::StatusRequest request;
    request.set_session(session_);
    control::v1::StatusReply reply;
    PARETO_TRY(
        call(&control::v1::Control::Stub::Status, request, reply, timeout, "asking for status"));
    return with_context(from_wire(reply), "{}", name_and_address(config_));
  }

  Expected<Observation> observe(milliseconds timeout) override {
    control::v1::ObserveRequest request;
    request.set_session(session_);
    control::v1::ObserveReply reply;
    PARETO_TRY(call(&control::v1::Control::Stub::Observe, request, reply, timeout, "observing"));
    return with_context(observation_of(reply), "{}", name_and_address(config_));
  }

  Expected<std::vector<wire::CodecCost>> measure_codecs(const std::string& handle) override {
    control::v1::MeasureCodecsRequest request;
    request.set_shard(handle);
    request.set_session(session_);
    control::v1::MeasureCodecsReply reply;
    PARETO_TRY(call(&control::v1::Control::Stub::MeasureCodecs, request, reply, kMeasuring,
                    "measuring codecs"));
    return from_wire(reply);
  }

  Expected<ShardTimes> profile(const std::string& handle, std::int64_t batch, int repeats,
                               int operator_repeats, milliseconds of_a_run) override {
    control::v1::ProfileRequest request;
    request.set_shard(handle);
    request.set_batch(batch);
    request.set_repeats(static_cast<std::uint32_t>(repeats));
    request.set_operator_repeats(static_cast<std::uint32_t>(operator_repeats));
    request.set_session(session_);
    control::v1::ProfileReply reply;
    // Each kind of run has one more, that is not counted.
    const milliseconds timeout = kMeasuring + (repeats + operator_repeats + 2) * of_a_run;
    PARETO_TRY(
        call(&control::v1::Control::Stub::Profile, request, reply, timeout, "profiling a shard"));
    return from_wire(reply);
  }

  Expected<transport::ProbeResult> probe_link(const std::string& transport,
                                              const std::string& address,
                                              const transport::ProbeOptions& options,
                                              milliseconds timeout) override {
    control::v1::ProbeLinkRequest request = probe_request(transport, address, options, timeout);
    PARETO_ASSIGN(const std::uint64_t session, attend());
    request.set_session(session);
    control::v1::ProbeLinkReply reply;
    PARETO_TRY(call(&control::v1::Control::Stub::ProbeLink, request, reply, timeout + seconds(2),
                    "probing a link"));
    return from_wire(reply);
  }

  Expected<LinkSpeed> measure_link(const std::string& transport,
                                   const std::string& address) override {
    control::v1::MeasureRateRequest request;
    request.set_transport(transport);
    request.set_address(address);
    request.set_timeout_ms(static_cast<std::uint32_t>(milliseconds(kMeasuring).count()));
    PARETO_ASSIGN(const std::uint64_t session, attend());
    request.set_session(session);
    control::v1::MeasureRateReply reply;
    PARETO_TRY(call(&control::v1::Control::Stub::MeasureRate, request, reply,
                    kMeasuring + seconds(2), "measuring a link"));
    return LinkSpeed{reply.bytes_per_second(), Nanoseconds(reply.round_trip_ns())};
  }

  Expected<EmulationLease> emulate(const EmulationWish& wish) override {
    control::v1::EmulateReply reply;
    PARETO_TRY(call(&control::v1::Control::Stub::Emulate, to_wire(wish, kLease), reply, kMeasuring,
                    "changing its network"));
    return EmulationLease{reply.lease(), milliseconds(reply.lease_ms())};
  }

  Expected<> renew_emulation(std::uint64_t lease) override {
    control::v1::EmulateRequest request;
    request.set_lease(lease);
    control::v1::EmulateReply reply;
    return call(&control::v1::Control::Stub::Emulate, request, reply, kRenewal,
                "keeping its network changed");
  }

  Expected<> end_emulation(std::uint64_t lease) override {
    control::v1::EmulateRequest request;
    request.set_lease(lease);
    request.set_end(true);
    control::v1::EmulateReply reply;
    return call(&control::v1::Control::Stub::Emulate, request, reply, kShortCall,
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
    const std::lock_guard lock(calls_mutex_);
    abandoned_ = true;
    for (grpc::ClientContext* const context : calls_) context->TryCancel();
    attended_.TryCancel();
  }

  std::uint64_t weights_sent_bytes() const override { return sent_bytes_; }

 private:
  /// Makes a call one of those that abandon() ends, for as long as this lives.
  class UnderWay {
   public:
    UnderWay(GrpcDaemonClient& client, grpc::ClientContext& context)
        : client_(client), context_(context) {
      const std::lock_guard lock(client_.calls_mutex_);
      client_.calls_.insert(&context_);
      if (client_.abandoned_) context_.TryCancel();
    }
    ~UnderWay() {
      const std::lock_guard lock(client_.calls_mutex_);
      client_.calls_.erase(&context_);
    }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;

   private:
    GrpcDaemonClient& client_;
    grpc::ClientContext& context_;
  };

  /// Returns the name that the certificate of the daemon has to hold.
  std::string expected_name() const {
    if (config_.identity.empty()) return tls::dns_name(tls::Role::kDevice);
    return tls::dns_name({config_.identity, tls::Role::kDevice});
  }

  /// Takes the device's identity from its certificate: what it says of itself does not count.
  Expected<> see_certificate(const grpc::AuthContext& seen) {
    info_.identity.reset();
    if (own_ == nullptr) return {};
    PARETO_ASSIGN(info_.identity, with_context(own_->judge(transport::grpc_peer_certificates(seen)),
                                               "{}", name_and_address(config_)));
    return {};
  }

  static void set_deadline(grpc::ClientContext& context, milliseconds timeout) {
    context.set_deadline(std::chrono::system_clock::now() + timeout);
  }

  template <typename Method, typename Request, typename Reply>
  Expected<> call(Method method, const Request& request, Reply& reply, milliseconds timeout,
                  const char* doing) {
    grpc::ClientContext context;
    const UnderWay under_way(*this, context);
    set_deadline(context, timeout);
    const grpc::Status status = ((*stub_).*method)(&context, request, &reply);
    // The daemon has deadlines of its own, and a sentence about each.
    if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED &&
        status.error_message() == "Deadline Exceeded") {
      return fail(ErrorCode::kTimeout, "{}: {}: no answer within {:g} s", name_and_address(config_),
                  doing, to_seconds(timeout));
    }
    return call_result(status, config_, doing);
  }

  /// Returns the session in which this client loads and opens. It begins when it is first needed.
  /// The daemon knows the peers from then on.
  Expected<std::uint64_t> attend() {
    const std::lock_guard lock(attendance_mutex_);
    if (attendance_error_) return tl::unexpected(*attendance_error_);
    if (told_peers_) return session_;
    if (!attendance_) attendance_ = stub_->Attend(&attended_);
    control::v1::AttendRequest request;
    for (const std::string& peer : peers_) request.add_peers(peer);
    control::v1::AttendReply reply;
    if (attendance_->Write(request) && attendance_->Read(&reply)) {
      session_ = reply.session();
      told_peers_ = true;
      return session_;
    }
    const grpc::Status ended = attendance_->Finish();
    attendance_.reset();
    const auto why = call_result(ended, config_, "beginning a session");
    attendance_error_ =
        why ? Error{ErrorCode::kUnavailable,
                    fmt::format("{}: it takes no coordinator", name_and_address(config_))}
            : why.error();
    // A daemon that is ending is not there for this coordinator.
    if (attendance_error_->code == ErrorCode::kClosed) {
      attendance_error_->code = ErrorCode::kUnavailable;
    }
    return tl::unexpected(*attendance_error_);
  }

  /// Puts an entry on the stream. False once the daemon ended it: Finish() says why.
  bool put(grpc::ClientWriter<control::v1::TensorChunk>& writer, const NamedTensor& entry) {
    const std::span<const std::byte> bytes = entry.tensor.bytes();
    std::size_t offset = 0;
    do {
      const std::size_t size = std::min(kChunkBytes, bytes.size() - offset);
      control::v1::TensorChunk chunk;
      if (offset == 0) chunk = first_chunk(entry);
      chunk.set_data(bytes.data() + offset, size);
      if (!writer.Write(chunk)) return false;
      sent_bytes_ += size;
      offset += size;
    } while (offset < bytes.size());
    return true;
  }

  const DeviceConfig config_;
  const tls::Credentials* const own_;  ///< the configuration's; null: no TLS
  DeviceInfo info_;
  const std::unique_ptr<control::v1::Control::Stub> stub_;
  std::atomic<std::uint64_t> sent_bytes_{0};
  std::mutex attendance_mutex_;
  grpc::ClientContext attended_;
  std::unique_ptr<grpc::ClientReaderWriter<control::v1::AttendRequest, control::v1::AttendReply>>
      attendance_;
  std::atomic<std::uint64_t> session_{0};
  std::vector<std::string> peers_;
  bool told_peers_ = false;
  std::optional<Error> attendance_error_;  ///< why there is no session; it is not tried again
  std::mutex calls_mutex_;
  std::set<grpc::ClientContext*> calls_;
  bool abandoned_ = false;
};

/// Connects once, over TLS by these credentials; null: without.
Expected<std::unique_ptr<DaemonClient>> connect_by(const DeviceConfig& config,
                                                   const std::string& dialled,
                                                   const tls::Credentials* own,
                                                   milliseconds timeout) {
  // The second time is for gRPC, which now and then takes a connection under way for a failed one
  // (core/transport/grpc). If nobody listens it costs nothing.
  for (bool again = false;; again = true) {
    auto client = std::make_unique<GrpcDaemonClient>(config, dialled, own);
    auto described = client->describe(timeout);
    if (described) return client;
    if (again || described.error().code != ErrorCode::kUnavailable) {
      return tl::unexpected(std::move(described).error());
    }
  }
}

}  // namespace

Expected<std::unique_ptr<DaemonClient>> connect_over_grpc(const DeviceConfig& config,
                                                          const std::string& dialled,
                                                          milliseconds timeout) {
  const bool leaves_the_machine = transport::is_of_network(dialled);
  if (leaves_the_machine && !config.insecure && config.credentials == nullptr) {
    return fail(ErrorCode::kPermission,
                "{}: it is reached over a network, and you have no credentials: paretoctl pki init "
                "makes yours, and paretoctl pki issue those of a device; for a test bed say "
                "insecure: true in the inventory, or --insecure",
                name_and_address(config));
  }
  const bool plain = config.insecure || dialled.starts_with("unix:");
  const tls::Credentials* const own = plain ? nullptr : config.credentials.get();
  auto client = connect_by(config, dialled, own, timeout);
  if (client || client.error().code != ErrorCode::kUnavailable || dialled.starts_with("unix:")) {
    return client;
  }
  const TlsProblem problem =
      tls_problem(dialled, own, config.identity, *deadline_after(std::min(timeout, kDiagnosing)));
  // A daemon of this machine need not have credentials: the kernel keeps others out.
  if (own != nullptr && !leaves_the_machine && !problem.speaks_tls) {
    return connect_by(config, dialled, nullptr, timeout);
  }
  if (problem.why.empty()) return client;
  return fail(ErrorCode::kPermission, "{}: {}", name_and_address(config), problem.why);
}

}  // namespace pareto::cluster
