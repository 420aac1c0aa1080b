// One frame of Zstandard (RFC 8878) that names the size of its content. Internal to
// core/wire/codecs.
#pragma once

#include <cstddef>
#include <span>

#include "core/wire/codec.h"

namespace pareto::wire::codecs {

/// Returns a 1-D uint8 tensor. Fails: kInvalidArgument (too large for the library), kExhausted (no
/// memory).
Expected<Tensor> compress_zstandard(std::span<const std::byte> bytes);
/// Fills `to` with the bytes that were compressed. Fails: kCorrupt (these are no bytes of `to`'s
/// size in exactly one frame), kExhausted (no memory).
Expected<> decompress_zstandard(std::span<const std::byte> compressed, std::span<std::byte> to);

}  // namespace pareto::wire::codecs
