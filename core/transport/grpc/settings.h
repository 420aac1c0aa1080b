// Figures that both ends of a gRPC link share. Internal to core/transport/grpc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/transport/transport.h"

namespace pareto::transport::grpc {

/// The path of the method in proto/link.proto.
inline constexpr std::string_view kMethod = "/pareto.link.v1.Link/Stream";

/// A frame travels in messages of at most this many bytes. gRPC holds whole messages before it
/// hands them over: pieces keep what it holds small, let the decoder see the header before the
/// tensors are there, and overlap reading with copying.
inline constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

/// Returns the settings by name of a channel to an address, or of a server that listens there.
std::vector<std::pair<std::string, int>> channel_settings(const Limits& limits,
                                                          const std::string& address);

}  // namespace pareto::transport::grpc
