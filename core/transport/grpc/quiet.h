// gRPC writes lines of its own to stderr, which would repeat our errors in other words.
#pragma once

namespace pareto::transport {

/// Keeps gRPC's lines away from stderr, unless the environment variable GRPC_VERBOSITY asks for
/// them. To be called at the beginning of main(). A library may have read that variable before, so
/// that setting it would not be enough.
void silence_grpc();

}  // namespace pareto::transport
