// Messages as the bytes that they are on a wire, and back. Shared by the frame tests.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "core/wire/frame.h"

namespace pareto::wire {

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(EncodedFrame frame) {
  Bytes bytes;
  for (const auto& piece : frame.pieces()) {
    bytes.insert(bytes.end(), piece.bytes.begin(), piece.bytes.end());
  }
  const auto trailer = frame.trailer();
  bytes.insert(bytes.end(), trailer.begin(), trailer.end());
  EXPECT_EQ(bytes.size(), frame.size_bytes());
  return bytes;
}

inline Bytes encode(const Message& message, const FrameOptions& options = {},
                    const FrameLimits& limits = {}) {
  auto frame = encode_frame(message, options, limits);
  if (!frame) {
    ADD_FAILURE() << frame.error().message;
    return {};
  }
  return bytes_of(*std::move(frame));
}

/// Decodes exactly one frame of the bytes; kUnavailable where they end too early.
inline Expected<Message> decode(std::span<const std::byte> bytes, const FrameLimits& limits = {}) {
  FrameDecoder decoder(limits);
  PARETO_ASSIGN(const std::size_t used, decoder.feed(bytes));
  if (!decoder.complete()) return fail(ErrorCode::kUnavailable, "incomplete after {}", used);
  if (used != bytes.size()) return fail(ErrorCode::kInternal, "only {} used", used);
  return decoder.take();
}

}  // namespace pareto::wire
