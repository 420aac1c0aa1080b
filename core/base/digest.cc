#include "core/base/digest.h"

#include <openssl/evp.h>

#include <cstring>
#include <new>

namespace pareto {

std::string Digest::hex() const {
  std::string text;
  text.reserve(64);
  for (const std::byte byte : bytes) {
    fmt::format_to(std::back_inserter(text), "{:02x}", std::to_integer<int>(byte));
  }
  return text;
}

Expected<Digest> parse_digest(std::string_view hex) {
  const auto nibble = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  Digest digest;
  if (hex.size() != 2 * digest.bytes.size()) {
    return fail(ErrorCode::kInvalidArgument, "a digest has 64 hexadecimal digits, not {}",
                hex.size());
  }
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
    const int high = nibble(hex[2 * i]);
    const int low = nibble(hex[2 * i + 1]);
    if (high < 0 || low < 0) {
      return fail(ErrorCode::kInvalidArgument, "a digest has hexadecimal digits only");
    }
    digest.bytes[i] = static_cast<std::byte>(high * 16 + low);
  }
  return digest;
}

struct Hasher::Impl {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  void restart() { EVP_DigestInit_ex(context, EVP_sha256(), nullptr); }
};

Hasher::Hasher() : impl_(std::make_unique<Impl>()) {
  if (impl_->context == nullptr) throw std::bad_alloc();
  impl_->restart();
}

Hasher::~Hasher() { EVP_MD_CTX_free(impl_->context); }

void Hasher::update(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(impl_->context, bytes.data(), bytes.size());
}

void Hasher::update(std::string_view text) { update(std::as_bytes(std::span(text))); }

Digest Hasher::finish() {
  Digest digest;
  EVP_DigestFinal_ex(impl_->context, reinterpret_cast<unsigned char*>(digest.bytes.data()),
                     nullptr);
  impl_->restart();
  return digest;
}

Digest sha256(std::span<const std::byte> bytes) {
  Hasher hasher;
  hasher.update(bytes);
  return hasher.finish();
}

Digest sha256(std::string_view text) { return sha256(std::as_bytes(std::span(text))); }

}  // namespace pareto

std::size_t std::hash<pareto::Digest>::operator()(const pareto::Digest& digest) const noexcept {
  std::size_t value = 0;
  std::memcpy(&value, digest.bytes.data(), sizeof(value));
  return value;
}
