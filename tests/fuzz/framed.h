// Frames whose header is made here, with all checksums right, which no fuzzer would guess.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/wire/checksum.h"
#include "core/wire/frame.h"

namespace pareto::fuzz {

/// Limits that are small, so that the time goes into bytes and not into memory.
inline constexpr wire::FrameLimits kSmallFrames{.max_frame_bytes = 1 << 20,
                                                .max_metadata_bytes = 1 << 16};

/// Makes a frame of that kind. input: 2 bytes how long the metadata is, the metadata, the payload.
inline std::vector<std::byte> framed(wire::MessageKind kind, std::span<const std::byte> input) {
  std::uint16_t metadata_bytes = 0;
  std::memcpy(&metadata_bytes, input.data(), sizeof(metadata_bytes));
  input = input.subspan(sizeof(metadata_bytes));
  const auto metadata = input.first(std::min<std::size_t>(metadata_bytes, input.size()));
  std::vector<std::byte> frame(wire::kHeaderBytes);
  const auto store = [&frame](std::size_t offset, auto number) {
    std::memcpy(frame.data() + offset, &number, sizeof(number));
  };
  std::memcpy(frame.data(), "PFRM", 4);
  store(4, wire::kFrameVersion);
  store(5, static_cast<std::uint8_t>(kind));
  store(28, static_cast<std::uint32_t>(metadata.size()));
  store(32, static_cast<std::uint64_t>(input.size() - metadata.size()));
  store(48, wire::checksum(metadata));
  store(56, wire::checksum(std::span(frame).first(56)));
  frame.insert(frame.end(), input.begin(), input.end());
  return frame;
}

}  // namespace pareto::fuzz
