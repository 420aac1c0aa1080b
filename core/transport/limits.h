// What the limits and options of a link mean to the frame codec. Internal to core/transport.
#pragma once

#include "core/transport/transport.h"
#include "core/wire/frame.h"

namespace pareto::transport {

inline wire::FrameLimits frame_limits(const Limits& limits) {
  wire::FrameLimits frame;
  frame.max_frame_bytes = limits.max_frame_bytes;
  frame.max_first_frame_bytes = limits.max_first_frame_bytes;
  return frame;
}

/// `here`: the peer is on this machine.
inline wire::FrameOptions frame_options(const Limits& limits, bool here) {
  return wire::FrameOptions{.payload_checksum = limits.payload_checksum && !here,
                            .codec = limits.codec};
}

}  // namespace pareto::transport
