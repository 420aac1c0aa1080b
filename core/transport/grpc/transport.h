// Links over gRPC: frames as raw bytes on the stream that proto/link.proto names, for networks that
// only let HTTP/2 pass.
#pragma once

#include <memory>

#include "core/transport/transport.h"

namespace pareto::transport::grpc {

std::unique_ptr<Transport> make_transport();

}  // namespace pareto::transport::grpc
