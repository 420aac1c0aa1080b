#include "daemon/control/control_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "core/base/file.h"
#include "core/base/file_descriptor.h"
#include "daemon/control/control_service.h"

namespace pareto::daemon {
namespace {

constexpr int kPingMs = 10'000;
constexpr int kPingPatienceMs = 20'000;

constexpr std::string_view kOnFile = "unix:";

/// The file of an address that begins with kOnFile: "unix:/run/control", "unix:///run/control".
std::string socket_file(const std::string& address) {
  const std::string file = address.substr(kOnFile.size());
  return file.starts_with("//") ? file.substr(2) : file;
}

Error why_no_file(const std::string& file) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (file.size() >= sizeof address.sun_path) {
    return {ErrorCode::kInvalidArgument,
            fmt::format("a socket's name has at most {} characters", sizeof address.sun_path - 1)};
  }
  file.copy(address.sun_path, file.size());
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(socket.get(), generic, sizeof address) != 0) {
    return {ErrorCode::kPermission, error_from_errno(errno, "making the socket's file").message};
  }
  ::unlink(file.c_str());
  return {ErrorCode::kPermission, "refused, and possible by now"};
}

/// gRPC does not say why it could not listen: ask the system the same.
Error why_not(const std::string& address) {
  if (address.starts_with(kOnFile)) return why_no_file(socket_file(address));
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  const std::string port = address.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int result =
      ::getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found);
  // While a machine starts its networks come up: trying again helps.
  if (result == EAI_AGAIN) return {ErrorCode::kUnavailable, ::gai_strerror(result)};
  if (result != 0) return {ErrorCode::kInvalidArgument, ::gai_strerror(result)};
  const int fd = ::socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0);
  const int reuse = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  const bool bound = ::bind(fd, found->ai_addr, found->ai_addrlen) == 0 && ::listen(fd, 1) == 0;
  const int reason = errno;
  if (fd >= 0) ::close(fd);
  ::freeaddrinfo(found);
  if (bound) return {ErrorCode::kPermission, "refused, and free again by now"};
  if (reason == EADDRINUSE) {
    return {
        ErrorCode::kPermission,
        "it is in use: another program listens there; choose another port, or 0 for a free one"};
  }
  return error_from_errno(reason, "listening");
}

}  // namespace

struct ControlServer::Impl {
  explicit Impl(ControlParts parts) : service(std::move(parts)) {}
  ControlService service;
  std::unique_ptr<grpc::Server> server;
  std::string address;
};

ControlServer::ControlServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ControlServer::~ControlServer() { stop(std::chrono::steady_clock::now()); }

Expected<std::unique_ptr<ControlServer>> ControlServer::start(const std::string& address,
                                                              ControlParts parts) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) {
    return fail(ErrorCode::kInvalidArgument, "control address \"{}\" is not HOST:PORT", address);
  }
  auto impl = std::make_unique<Impl>(std::move(parts));
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  // Two daemons on one port would share the calls between them.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(kMaxControlMessageBytes);
  builder.SetMaxSendMessageSize(kMaxControlMessageBytes);
  // A coordinator without power says no goodbye: its session ends with the first ping that it does not answer. Its own pings are
  // welcome.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingPatienceMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kPingMs / 2);
  builder.RegisterService(&impl->service);
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  impl->server = builder.BuildAndStart();
  if (!impl->server || port == 0) {
    const Error reason = why_not(address);
    return fail(reason.code, "control address {}: {}", address, reason.message);
  }
  const bool on_file = address.starts_with(kOnFile);
  // For its user and group, whatever the mask of new files is: connecting takes leave to write.
  if (on_file && ::chmod(socket_file(address).c_str(), 0660) != 0) {
    return tl::unexpected(error_from_errno(errno, "control address " + address));
  }
  impl->address = on_file ? address : fmt::format("{}:{}", address.substr(0, colon), port);
  return std::unique_ptr<ControlServer>(new ControlServer(std::move(impl)));
}

const std::string& ControlServer::address() const { return impl_->address; }

void ControlServer::announce_stop() {
  if (impl_->server) impl_->server->GetHealthCheckService()->SetServingStatus(false);
}

void ControlServer::stop(TimePoint deadline) {
  if (!impl_->server) return;
  const auto left = std::max(deadline - std::chrono::steady_clock::now(),
                             std::chrono::steady_clock::duration::zero());
  impl_->service.end_sessions();
  impl_->server->Shutdown(std::chrono::system_clock::now() + left);
  impl_->server->Wait();
  impl_->server.reset();
}

}  // namespace pareto::daemon
