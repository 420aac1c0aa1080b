// SHA-256 content addresses: a tensor or a shard is known by what it holds.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace pareto {

struct Digest {
  std::array<std::byte, 32> bytes{};
  auto operator<=>(const Digest&) const = default;
  /// Returns 64 lower-case hexadecimal digits.
  std::string hex() const;
};

/// Fails with kInvalidArgument unless `hex` is exactly 64 hexadecimal digits.
Expected<Digest> parse_digest(std::string_view hex);

/// Incremental hashing. Threads: one owner.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);
  /// Returns the digest of all that was given; the hasher starts again.
  Digest finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

Digest sha256(std::span<const std::byte> bytes);
Digest sha256(std::string_view text);

}  // namespace pareto

template <>
struct std::hash<pareto::Digest> {
  std::size_t operator()(const pareto::Digest& digest) const noexcept;
};
