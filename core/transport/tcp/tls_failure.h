// What OpenSSL says of a failed call, as an error with its remedy. Internal to core/transport/tcp.
#pragma once

#include "core/base/error.h"
#include "core/base/file_descriptor.h"

struct ssl_st;  // OpenSSL's SSL

namespace pareto::transport::tcp {

/// Returns "the connection broke: connection reset by peer", for an errno.
Error broken_connection(int number);

/// Returns the error of a call on a connection, and takes it off OpenSSL's queue. `kind` is what
/// SSL_get_error() returned, `number` the errno of the call. `established`: its handshake is done.
/// Codes: kPermission (certificates), kCorrupt (changed bytes, or none of TLS), kUnavailable.
Error tls_failure(ssl_st& connection, int kind, int number, bool established);

/// Tells a peer that the two sides do not both speak TLS 1.3, by an alert in plain text. The socket
/// may be full or gone: nothing tells.
void send_version_alert(const FileDescriptor& socket);

/// Returns the error for a peer whose first byte is none of TLS.
Error speaks_no_tls();
/// Returns the error for a peer that speaks TLS to a side without credentials.
Error speaks_tls();

}  // namespace pareto::transport::tcp
