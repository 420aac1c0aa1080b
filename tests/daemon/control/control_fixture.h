// A control service over real gRPC, with shards that the test makes up.
#pragma once

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/plan/protocol.h"
#include "daemon/control/control_server.h"
#include "proto/control.grpc.pb.h"
#include "tests/daemon/support/fake_runner.h"
#include "tests/daemon/support/pipeline.h"

namespace pareto::daemon {

namespace v1 = control::v1;
using test::FakeRuns;

class NoChange final : public InterfaceChange {
 public:
  Expected<> check() const override { return {}; }
  Expected<> end() override { return {}; }
};

/// A coordinator: there until it is destroyed.
class Coordinator {
 public:
  explicit Coordinator(v1::Control::Stub& stub, const std::vector<std::string>& peers = {})
      : stream_(stub.Attend(&context_)) {
    name_peers(peers);
  }
  ~Coordinator() {
    context_.TryCancel();
    stream_->Finish();
  }
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;
  std::uint64_t session() const { return session_; }
  /// Returns whether the daemon answered.
  bool name_peers(const std::vector<std::string>& peers) {
    v1::AttendRequest request;
    for (const std::string& peer : peers) request.add_peers(peer);
    v1::AttendReply reply;
    if (!stream_->Write(request) || !stream_->Read(&reply)) return false;
    session_ = reply.session();
    return true;
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AttendRequest, v1::AttendReply>> stream_;
  std::uint64_t session_ = 0;
};

class ControlTest : public testing::Test {
 protected:
  ControlTest()
      : folder_(TemporaryFolder::create("control").value()),
        store_(TensorStore::open(folder_.path(), 1 << 20).value()),
        shards_(
            test::fake_runners(runs_), [this](const Digest& digest) { return store_->get(digest); },
            1 << 20),
        transport_(transport::make_transport("tcp").value()),
        stages_(test::host_on(transport_, "127.0.0.1:0", "pi-1").value()) {
    ControlParts parts{*store_, shards_, *stages_, network_, "pi-1", 3, {"a cpu", 4, "an os", {}},
                       {},      {}};
    parts.default_device = "cuda:3";
    parts.runtime = {"1.13.1", true, 0};
    parts.engines = {"plain", "fast"};
    server_ = ControlServer::start("127.0.0.1:0", std::move(parts)).value();
    channel_ = grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
    stub_ = v1::Control::NewStub(channel_);
    coordinator_ = std::make_unique<Coordinator>(
        *stub_, std::vector<std::string>{stages_->addresses().at(0).address});
  }
  std::uint64_t session() const { return coordinator_->session(); }

  template <typename Method, typename Request, typename Reply>
  grpc::Status call(Method method, const Request& request, Reply& reply) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + test::kPatience);
    return ((*stub_).*method)(&context, request, &reply);
  }
  grpc::Status put(const std::vector<v1::TensorChunk>& chunks, v1::PutTensorsReply& reply) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + test::kPatience);
    const auto writer = stub_->PutTensors(&context, &reply);
    for (const auto& chunk : chunks) {
      if (!writer->Write(chunk)) break;
    }
    writer->WritesDone();
    return writer->Finish();
  }
  static std::string digest_bytes(const std::string& data) {
    const Digest digest = sha256(data);
    return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
  }
  static v1::TensorChunk first_chunk(const std::string& whole, std::size_t size) {
    v1::TensorChunk chunk;
    chunk.set_digest(digest_bytes(whole));
    chunk.set_dtype(static_cast<std::uint32_t>(DType::kUInt8));
    chunk.add_shape(static_cast<std::int64_t>(whole.size()));
    chunk.set_size_bytes(whole.size());
    chunk.set_data(whole.substr(0, size));
    return chunk;
  }
  v1::LoadShardRequest load_request(const plan::Shard& shard) const {
    v1::LoadShardRequest request;
    request.set_session(session());
    request.set_manifest(plan::manifest_json(shard));
    request.set_archive(shard.archive);
    request.mutable_settings()->set_batch(1);
    return request;
  }
  std::string load() {
    v1::LoadShardReply reply;
    const auto status =
        call(&v1::Control::Stub::LoadShard, load_request(test::make_shard()), reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply.shard();
  }

  v1::StatusRequest own_status() const {
    v1::StatusRequest request;
    request.set_session(session());
    return request;
  }
  /// Tells when the daemon holds nothing any more, or that it never came to that.
  bool holds_nothing() {
    for (const auto end = std::chrono::steady_clock::now() + test::kPatience;
         std::chrono::steady_clock::now() < end;) {
      v1::StatusReply status;
      if (!call(&v1::Control::Stub::Status, v1::StatusRequest(), status).ok()) return false;
      if (status.other_shards() == 0 && status.other_stages() == 0) return true;
    }
    return false;
  }

  std::shared_ptr<FakeRuns> runs_ = std::make_shared<FakeRuns>();
  TemporaryFolder folder_;
  std::unique_ptr<TensorStore> store_;
  ShardCache shards_;
  std::shared_ptr<transport::Transport> transport_;
  std::unique_ptr<StageHost> stages_;
  /// Nothing is changed, and the request is kept.
  NetworkLease network_{true, [this](const LeaseRequest& request) {
                          requested_ = request;
                          return std::make_unique<NoChange>();
                        }};
  LeaseRequest requested_;
  std::unique_ptr<ControlServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Control::Stub> stub_;
  std::unique_ptr<Coordinator> coordinator_;
};

}  // namespace pareto::daemon
