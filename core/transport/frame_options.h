// Converts the options of a link to those of the frame codec. Internal to core/transport.
#pragma once

#include <algorithm>

#include "core/transport/link_options.h"
#include "core/wire/frame.h"

namespace pareto::transport {

/// Returns the limits of frames that are sent.
inline wire::FrameLimits frame_limits(const Limits& limits) {
  wire::FrameLimits frame;
  frame.max_frame_bytes = limits.max_frame_bytes;
  return frame;
}

/// Returns the limits of frames that are received, until Link::trust().
inline wire::FrameLimits stranger_limits(const Limits& limits) {
  wire::FrameLimits frame = frame_limits(limits);
  if (limits.max_stranger_frame_bytes > 0) {
    frame.max_frame_bytes = std::min(frame.max_frame_bytes, limits.max_stranger_frame_bytes);
  }
  return frame;
}

/// Returns the options of frames that leave this process's machine, or may.
inline wire::FrameOptions frame_options(const LinkOptions& options) {
  return wire::FrameOptions{.payload_checksum = options.payload_checksum, .codec = options.codec};
}

}  // namespace pareto::transport
