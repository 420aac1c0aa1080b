#include "daemon/stage/tensor_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "core/base/file.h"

namespace pareto::daemon {
namespace {

static_assert(std::endian::native == std::endian::little, "stored tensors are little-endian");

constexpr std::array<char, 8> kMagic{'P', 'T', 'E', 'N', 'S', 'O', 'R', '1'};
constexpr std::size_t kFixedBytes = 24;
constexpr std::size_t kMaxRank = 64;

std::size_t header_bytes(std::size_t rank) {
  constexpr std::size_t kUnit = Tensor::kAlignment;
  return (kFixedBytes + rank * sizeof(std::int64_t) + kUnit - 1) / kUnit * kUnit;
}

/// Returns whether the stated size is that of dtype and shape.
Expected<> check_size(const TensorFileHeader& header) {
  PARETO_ASSIGN(const std::int64_t elements, element_count(header.shape));
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(elements), size_of(header.dtype), &bytes) ||
      bytes != header.size_bytes) {
    return fail(ErrorCode::kInvalidArgument, "{} bytes are no tensor of {} {}", header.size_bytes,
                to_string(header.dtype), to_string(header.shape));
  }
  return {};
}

}  // namespace

Expected<std::vector<std::byte>> encode_header(const TensorFileHeader& header) {
  if (header.shape.size() > kMaxRank) {
    return fail(ErrorCode::kInvalidArgument, "a tensor of rank {}, the limit is {}",
                header.shape.size(), kMaxRank);
  }
  PARETO_TRY(check_size(header));
  std::vector<std::byte> bytes(header_bytes(header.shape.size()), std::byte{0});
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  bytes[8] = static_cast<std::byte>(header.dtype);
  bytes[9] = static_cast<std::byte>(header.shape.size());
  std::memcpy(bytes.data() + 16, &header.size_bytes, sizeof header.size_bytes);
  if (!header.shape.empty()) {
    std::memcpy(bytes.data() + kFixedBytes, header.shape.data(),
                header.shape.size() * sizeof(std::int64_t));
  }
  return bytes;
}

Expected<std::shared_ptr<const MappedTensorFile>> MappedTensorFile::open(
    const std::filesystem::path& path) {
  // A graph that writes into a weight gets its own page, and the daemon survives.
  PARETO_ASSIGN(MappedFile mapped, MappedFile::open(path));
  if (mapped.bytes().size() < kFixedBytes) {
    return fail(ErrorCode::kCorrupt, "{}: {} bytes are no stored tensor", path.string(),
                mapped.bytes().size());
  }
  std::shared_ptr<MappedTensorFile> file(new MappedTensorFile(std::move(mapped)));
  PARETO_TRY(with_context(file->parse(), "{}", path.string()));
  return std::shared_ptr<const MappedTensorFile>(std::move(file));
}

Expected<> MappedTensorFile::parse() {
  const std::byte* const bytes = file_.bytes().data();
  const std::size_t length = file_.bytes().size();
  const auto dtype = dtype_from_number(std::to_integer<std::uint8_t>(bytes[8]));
  const auto rank = std::to_integer<std::size_t>(bytes[9]);
  if (std::memcmp(bytes, kMagic.data(), kMagic.size()) != 0 || !dtype || rank > kMaxRank ||
      header_bytes(rank) > length) {
    return fail(ErrorCode::kCorrupt, "its header is not that of a stored tensor");
  }
  header_.dtype = *dtype;
  std::memcpy(&header_.size_bytes, bytes + 16, sizeof header_.size_bytes);
  header_.shape.resize(rank);
  if (rank > 0) std::memcpy(header_.shape.data(), bytes + kFixedBytes, rank * sizeof(std::int64_t));
  offset_ = header_bytes(rank);
  if (header_.size_bytes != length - offset_ || !check_size(header_)) {
    return fail(ErrorCode::kCorrupt, "it was cut short or does not match its header");
  }
  return {};
}

}  // namespace pareto::daemon
