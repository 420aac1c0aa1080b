// A tensor on its way to a daemon's store, in chunks.
//
// Private to coordinator/cluster: its generated header is heavy.
#pragma once

#include <atomic>
#include <cstdint>

#include "coordinator/cluster/daemon_client.h"
#include "proto/control.pb.h"

namespace grpc {
template <class Request>
class ClientWriter;
}

namespace pareto::cluster {

/// Puts a tensor on the stream, and adds to `sent_bytes` as it goes. Returns false once the daemon
/// has ended the stream: its status says why.
bool send_tensor(grpc::ClientWriter<control::v1::TensorChunk>& writer, const NamedTensor& entry,
                 std::atomic<std::uint64_t>& sent_bytes);

}  // namespace pareto::cluster
