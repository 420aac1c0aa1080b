// Digests in messages of proto/control.proto: their 32 bytes.
#pragma once

#include <string>
#include <string_view>

#include "core/base/digest.h"
#include "core/base/error.h"

namespace pareto::control {

std::string digest_bytes(const Digest& digest);
/// Reads a digest from its bytes. Fails: kCorrupt (another number of bytes).
Expected<Digest> digest_from(std::string_view bytes);

}  // namespace pareto::control
