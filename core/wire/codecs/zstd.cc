#include "core/wire/codecs/codecs.h"
#include "core/wire/codecs/zstandard.h"

namespace pareto::wire::codecs {
namespace {

class ZstdCodec final : public Codec {
 public:
  std::string_view name() const override { return "zstd"; }
  std::uint8_t number() const override { return 7; }
  bool lossless() const override { return true; }
  bool takes(DType) const override { return true; }

  Expected<Tensor> encode(const Tensor& tensor) const override {
    return compress_zstandard(tensor.bytes());
  }

  Expected<> decode(std::span<const std::byte> encoded, Tensor& into) const override {
    return decompress_zstandard(encoded, into.mutable_bytes());
  }
};

}  // namespace

const Codec* zstd() {
  static const ZstdCodec kCodec;
  return &kCodec;
}

}  // namespace pareto::wire::codecs
