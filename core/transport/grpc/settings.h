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

/// Most bytes of a gRPC message; a frame travels in several. gRPC holds a whole message before it
/// hands it over. Small messages bound that memory, let the decoder see the header early, and
/// overlap reading with copying.
inline constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

/// Returns the settings by name of a channel to an address, or of a server that listens there.
std::vector<std::pair<std::string, int>> channel_settings(const Limits& limits,
                                                          const std::string& address);

}  // namespace pareto::transport::grpc
