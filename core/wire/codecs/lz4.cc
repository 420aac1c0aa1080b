#include <lz4.h>

#include "core/wire/codecs/codecs.h"
#include "core/wire/codecs/support.h"

namespace pareto::wire::codecs {
namespace {

class Lz4Codec final : public Codec {
 public:
  std::string_view name() const override { return "lz4"; }
  std::uint8_t number() const override { return 6; }
  bool lossless() const override { return true; }
  bool takes(DType) const override { return true; }

  Expected<Tensor> encode(const Tensor& tensor) const override {
    if (tensor.size_bytes() > LZ4_MAX_INPUT_SIZE) {
      return fail(ErrorCode::kInvalidArgument, "lz4 takes {} bytes at most", LZ4_MAX_INPUT_SIZE);
    }
    if (tensor.size_bytes() == 0) return allocate_bytes(0);
    const int size = static_cast<int>(tensor.size_bytes());
    const int bound = LZ4_compressBound(size);
    PARETO_ASSIGN(Tensor memory, allocate_bytes(static_cast<std::size_t>(bound)));
    const int used =
        LZ4_compress_default(reinterpret_cast<const char*>(tensor.bytes().data()),
                             reinterpret_cast<char*>(memory.mutable_bytes().data()), size, bound);
    if (used <= 0) return fail(ErrorCode::kInvalidArgument, "lz4 refuses the tensor");
    return first_bytes(memory, static_cast<std::size_t>(used));
  }

  Expected<> decode(std::span<const std::byte> encoded, Tensor& into) const override {
    const std::size_t size = into.size_bytes();
    if (size > LZ4_MAX_INPUT_SIZE || encoded.size() > LZ4_COMPRESSBOUND(LZ4_MAX_INPUT_SIZE)) {
      return fail(ErrorCode::kCorrupt, "lz4 makes {} bytes at most", LZ4_MAX_INPUT_SIZE);
    }
    if (size == 0 || encoded.empty()) {
      if (size == encoded.size()) return {};
      return fail(ErrorCode::kCorrupt, "{} bytes of lz4 for a tensor of {}", encoded.size(), size);
    }
    const int made = LZ4_decompress_safe(reinterpret_cast<const char*>(encoded.data()),
                                         reinterpret_cast<char*>(into.mutable_bytes().data()),
                                         static_cast<int>(encoded.size()), static_cast<int>(size));
    if (made < 0 || static_cast<std::size_t>(made) != size) {
      return fail(ErrorCode::kCorrupt, "these bytes are no lz4 of a tensor of {} bytes", size);
    }
    return {};
  }
};

}  // namespace

const Codec* lz4() {
  static const Lz4Codec kCodec;
  return &kCodec;
}

}  // namespace pareto::wire::codecs
