#include "core/wire/checksum.h"

#include "core/base/xxhash.h"

namespace pareto::wire {

struct Checksum::State {
  XXH3_state_t xxh;
};

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

Checksum::Checksum() : state_(std::make_unique<State>()) { reset(); }
Checksum::~Checksum() = default;
Checksum::Checksum(Checksum&&) noexcept = default;
Checksum& Checksum::operator=(Checksum&&) noexcept = default;

void Checksum::reset() { XXH3_64bits_reset(&state_->xxh); }

void Checksum::update(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size());
}

std::uint64_t Checksum::value() const { return XXH3_64bits_digest(&state_->xxh); }

}  // namespace pareto::wire
