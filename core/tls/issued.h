// What an authority has issued: its index, kept as issued.json (FORMAT.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/tls/identity.h"

namespace pareto::tls {

/// A certificate that was issued.
struct IssuedCertificate {
  Identity identity;
  std::string serial;  ///< lower-case hexadecimal digits
  Digest key;          ///< digest of its public key
  std::chrono::sys_seconds from;
  std::chrono::sys_seconds until;
  std::optional<std::chrono::sys_seconds> revoked;  ///< when it was taken back
};

/// The worth of an issued certificate at some time.
enum class IssuedState {
  kValid,
  kReplaced,  ///< valid, but the same has a later one
  kExpired,
  kRevoked,
};
/// Returns "valid", "replaced", "expired", "revoked".
std::string_view to_string(IssuedState state);

/// All certificates that an authority has issued, oldest first.
struct IssuedIndex {
  std::vector<IssuedCertificate> certificates;
  std::int64_t list_number = 0;  ///< number of the last list of revoked certificates
};

/// Returns whether two identities are one for those who check host names: letters of either case
/// are equal in these.
bool is_same_peer(const Identity& one, const Identity& other);

IssuedState state_of(const IssuedIndex& index, const IssuedCertificate& certificate,
                     std::chrono::sys_seconds now);

std::string to_json(const IssuedIndex& index);
/// Reads an index as to_json() writes it. Fails: kCorrupt.
Expected<IssuedIndex> issued_index_from(std::string_view json);

}  // namespace pareto::tls
