// The first 64 bytes of a frame (core/wire/FORMAT.md). Internal to core/wire.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/wire/frame.h"

namespace pareto::wire {

struct Header {
  MessageKind kind = MessageKind::kValues;
  bool payload_checksum_follows = false;
  std::uint64_t pipeline = 0;
  std::uint64_t request = 0;
  std::uint32_t sequence = 0;
  Nanoseconds time_left{};  ///< travels in whole microseconds; see Message
  std::int8_t priority = 0;
  std::uint32_t metadata_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t metadata_checksum = 0;
};

bool is_known(MessageKind kind);

std::array<std::byte, kHeaderBytes> write_header(const Header& header);
/// Reads a header, before memory for its sizes is allocated. Fails: kCorrupt (no header of this
/// version), kExhausted (sizes over the limits).
Expected<Header> read_header(const std::array<std::byte, kHeaderBytes>& bytes,
                             const FrameLimits& limits);
/// Checks sizes against the limits. Fails: kExhausted.
Expected<> check_sizes(std::uint64_t metadata_bytes, std::uint64_t payload_bytes,
                       const FrameLimits& limits);
/// Checks what the tensors take in memory, decoded. Fails: kExhausted.
Expected<> check_decoded(std::uint64_t tensor_bytes, const FrameLimits& limits);

}  // namespace pareto::wire
