// Little-endian numbers in and out of byte buffers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/error.h"

namespace pareto::wire {

// Tensor bytes travel as they lie in memory; a big-endian machine would have to swap every element.
static_assert(std::endian::native == std::endian::little, "frames are little endian");

/// Appends to a buffer. Threads: one owner.
class ByteWriter {
 public:
  explicit ByteWriter(std::vector<std::byte>& out) : out_(out) {}

  template <typename T>
  requires std::is_arithmetic_v<T>
  void put(T number) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&number);
    out_.insert(out_.end(), bytes, bytes + sizeof(T));
  }
  void put(std::string_view text) {
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    out_.insert(out_.end(), bytes, bytes + text.size());
  }
  std::size_t size() const { return out_.size(); }

 private:
  std::vector<std::byte>& out_;
};

/// Reads bytes of a stranger: every call checks what is left, none reads past the end. Threads: one
/// owner.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : left_(bytes) {}

  /// Reads one number in the machine's byte order. Fails: kCorrupt, naming `what` was expected.
  template <typename T>
  requires std::is_arithmetic_v<T> Expected<T> get(std::string_view what) {
    if (left_.size() < sizeof(T)) return cut_short(what);
    T number;
    std::memcpy(&number, left_.data(), sizeof(T));
    left_ = left_.subspan(sizeof(T));
    return number;
  }
  /// Reads a text of `size` bytes. Fails: kCorrupt. The view is as long-lived as the bytes read.
  Expected<std::string_view> get_text(std::size_t size, std::string_view what) {
    if (left_.size() < size) return cut_short(what);
    const std::string_view text(reinterpret_cast<const char*>(left_.data()), size);
    left_ = left_.subspan(size);
    return text;
  }
  std::size_t left() const { return left_.size(); }

 private:
  static tl::unexpected<Error> cut_short(std::string_view what) {
    return fail(ErrorCode::kCorrupt, "the metadata ends inside {}", what);
  }

  std::span<const std::byte> left_;
};

/// Returns a number as it lies in a fixed place of a buffer that was checked to hold it.
template <typename T>
T load(std::span<const std::byte> bytes, std::size_t offset) {
  T number;
  std::memcpy(&number, bytes.data() + offset, sizeof(T));
  return number;
}

}  // namespace pareto::wire
