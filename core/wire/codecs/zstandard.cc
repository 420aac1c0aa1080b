#include "core/wire/codecs/zstandard.h"

#include <zstd.h>
#include <zstd_errors.h>

#include "core/wire/bytes.h"
#include "core/wire/codecs/support.h"

namespace pareto::wire::codecs {
namespace {

/// A link of 100 Mbit/s and more waits for the compressor at any higher one.
constexpr int kLevel = 1;

tl::unexpected<Error> failure(std::size_t result, ErrorCode code) {
  const bool no_memory = ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation;
  return fail(no_memory ? ErrorCode::kExhausted : code, "zstd: {}", ZSTD_getErrorName(result));
}

}  // namespace

Expected<Tensor> compress_zstandard(std::span<const std::byte> bytes) {
  const std::size_t bound = ZSTD_compressBound(bytes.size());
  if (ZSTD_isError(bound) != 0) return failure(bound, ErrorCode::kInvalidArgument);
  PARETO_ASSIGN(Tensor memory, allocate_bytes(bound));
  const std::size_t used =
      ZSTD_compress(memory.mutable_bytes().data(), bound, bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(used) != 0) return failure(used, ErrorCode::kInvalidArgument);
  return first_bytes(memory, used);
}

Expected<> decompress_zstandard(std::span<const std::byte> compressed, std::span<std::byte> to) {
  // Several frames, frames to be skipped and frames of the library's past formats are nothing we
  // write.
  if (compressed.size() < sizeof(std::uint32_t) ||
      load<std::uint32_t>(compressed, 0) != ZSTD_MAGICNUMBER ||
      ZSTD_findFrameCompressedSize(compressed.data(), compressed.size()) != compressed.size() ||
      ZSTD_getFrameContentSize(compressed.data(), compressed.size()) != to.size()) {
    return fail(ErrorCode::kCorrupt, "these bytes are no zstd of {} bytes", to.size());
  }
  const std::size_t made =
      ZSTD_decompress(to.data(), to.size(), compressed.data(), compressed.size());
  if (ZSTD_isError(made) != 0) return failure(made, ErrorCode::kCorrupt);
  if (made != to.size()) {
    return fail(ErrorCode::kCorrupt, "{} bytes of zstd where {} were announced", made, to.size());
  }
  return {};
}

}  // namespace pareto::wire::codecs
