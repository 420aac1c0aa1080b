#include "core/control/digest_bytes.h"

#include <cstring>

namespace pareto::control {

std::string digest_bytes(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

Expected<Digest> digest_from(std::string_view bytes) {
  Digest digest;
  if (bytes.size() != digest.bytes.size()) {
    return fail(ErrorCode::kCorrupt, "a digest of {} bytes, not {}", bytes.size(),
                digest.bytes.size());
  }
  std::memcpy(digest.bytes.data(), bytes.data(), bytes.size());
  return digest;
}

}  // namespace pareto::control
