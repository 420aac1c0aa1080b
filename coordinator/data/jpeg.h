// JPEG files, by libjpeg-turbo.
#pragma once

#include <cstddef>
#include <span>

#include "coordinator/data/picture.h"
#include "core/base/error.h"

namespace pareto::data {

/// Decodes a JPEG file to red, green and blue. Fails: kCorrupt (damaged, or of colours that are not
/// known), kExhausted (too large, or of more scans than any encoder makes).
Expected<Picture> decode_jpeg(std::span<const std::byte> file);

}  // namespace pareto::data
