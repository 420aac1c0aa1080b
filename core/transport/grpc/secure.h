// Mutual TLS of gRPC's connections, by the credentials of this process: for control and links.
#pragma once

#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/base/file_descriptor.h"
#include "core/tls/credentials.h"

namespace grpc {
class AuthContext;
class ChannelArguments;
class ChannelCredentials;
class ServerCredentials;
}  // namespace grpc

namespace pareto::transport {

/// Makes the credentials of a server, from what is in use now; without TLS for null. It takes no
/// client without a certificate of the authority.
std::shared_ptr<::grpc::ServerCredentials> grpc_server_credentials(const tls::Credentials* own);
/// Certificates of a server that outlives them. gRPC reads them again every few seconds, from
/// memory, so that it sees none that tls::Credentials has not checked. They outlive the server.
///
/// Threads: any, one at a time.
class RenewedCertificates {
 public:
  /// Makes them of what is in use now. Fails: kExhausted (no memory, no descriptor).
  static Expected<std::unique_ptr<RenewedCertificates>> make(const tls::Credentials& own);

  /// Makes the credentials of the server.
  std::shared_ptr<::grpc::ServerCredentials> credentials() const;
  /// Hands over what is in use now: new connections see it within seconds. Fails: kExhausted.
  Expected<> renew(const tls::Credentials& own);

 private:
  RenewedCertificates() = default;

  FileDescriptor certificate_;
  FileDescriptor key_;
  FileDescriptor authority_;
};

/// Makes the credentials of a channel, from what is in use now; without TLS for null. `server`: the
/// name that the server's certificate has to hold (tls::dns_name); it is set among the arguments.
/// The server is judged at each connection, by what is in use then: a channel outlives many. No
/// call is repeated: the arguments say so for each channel.
std::shared_ptr<::grpc::ChannelCredentials> grpc_channel_credentials(
    std::shared_ptr<const tls::Credentials> own, const std::string& server,
    ::grpc::ChannelArguments& arguments);
/// Makes the credentials of a channel to a server of this process; without TLS for null. A server
/// shows the certificate of before for some seconds, so it is not judged by the newest list.
std::shared_ptr<::grpc::ChannelCredentials> grpc_credentials_to_self(
    const tls::Credentials* own, ::grpc::ChannelArguments& arguments);

/// Returns the certificates that the other end of a call showed, as PEM and its own first; "" if it
/// showed none. gRPC has verified them, but for the list of those taken back: Credentials::judge()
/// looks at that.
std::string grpc_peer_certificates(const ::grpc::AuthContext& context);

/// The other end of a call, and the certificates that say so.
struct GrpcPeer {
  tls::Identity identity;
  std::string chain;  ///< grpc_peer_certificates()
};
/// Returns who is at the other end of a call. Fails: as Credentials::judge().
Expected<GrpcPeer> grpc_peer(const tls::Credentials& own, const ::grpc::AuthContext& context);

}  // namespace pareto::transport
