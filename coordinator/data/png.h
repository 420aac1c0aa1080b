// PNG files, by libpng.
#pragma once

#include <cstddef>
#include <span>

#include "coordinator/data/picture.h"
#include "core/base/error.h"

namespace pareto::data {

/// Decodes a PNG file to red, green and blue. Fails: kCorrupt (damaged), kExhausted (too large, no
/// memory).
Expected<Picture> decode_png(std::span<const std::byte> file);

}  // namespace pareto::data
