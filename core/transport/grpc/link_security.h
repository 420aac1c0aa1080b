// Mutual TLS of gRPC links by this process's credentials. Internal to core/transport/grpc.
#pragma once

#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/tls/credentials.h"

namespace grpc {
class AuthContext;
class ChannelCredentials;
class ServerCredentials;
}  // namespace grpc

namespace pareto::transport::grpc {

/// Returns credentials of gRPC for a server that demands certificates of those who connect; not
/// encrypted for null. They hold what is in use now, for as long as the server lives.
std::shared_ptr<::grpc::ServerCredentials> server_credentials(const tls::Credentials* credentials);

/// Returns credentials of gRPC for one channel; not encrypted for null. They hold what is in use
/// now.
std::shared_ptr<::grpc::ChannelCredentials> channel_credentials(
    const tls::Credentials* credentials);

/// Returns who is at the other end of a call. gRPC has verified the certificate against the
/// authority; the list of those taken back is looked at here. Fails: kPermission.
Expected<tls::Identity> peer_of(const ::grpc::AuthContext& call,
                                const tls::Credentials& credentials);

}  // namespace pareto::transport::grpc
