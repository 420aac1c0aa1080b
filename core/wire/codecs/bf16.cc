#include "core/wire/codecs/codecs.h"
#include "core/wire/codecs/support.h"
#include "core/wire/codecs/widest.h"

namespace pareto::wire::codecs {
namespace {

/// To the nearest, ties to even; a NaN stays one.
struct Shorten {
  PARETO_INLINE static void run(const std::byte* from, std::size_t count, std::byte* to) {
    const Word* const in = reinterpret_cast<const Word*>(from);
    Half* const out = reinterpret_cast<Half*>(to);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t bits = in[i];
      const std::uint32_t rounded = bits + 0x7FFF + ((bits >> 16) & 1);
      const std::uint32_t quiet = bits | 0x0040'0000;
      const bool is_nan = (bits & 0x7FFF'FFFF) > 0x7F80'0000;
      out[i] = static_cast<std::uint16_t>((is_nan ? quiet : rounded) >> 16);
    }
  }
};

struct Lengthen {
  PARETO_INLINE static void run(const std::byte* from, std::size_t count, std::byte* to) {
    const Half* const in = reinterpret_cast<const Half*>(from);
    Word* const out = reinterpret_cast<Word*>(to);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint32_t>(in[i]) << 16;
  }
};

class BFloat16Codec final : public Codec {
 public:
  std::string_view name() const override { return "bf16"; }
  std::uint8_t number() const override { return 2; }
  bool lossless() const override { return false; }
  bool takes(DType dtype) const override { return dtype == DType::kFloat32; }

  Expected<Tensor> encode(const Tensor& tensor) const override {
    PARETO_TRY(check_takes(*this, tensor));
    const std::size_t count = element_count_of(tensor);
    PARETO_ASSIGN(Tensor encoded, allocate_bytes(2 * count));
    widest<Shorten>(tensor.bytes().data(), count, encoded.mutable_bytes().data());
    return encoded;
  }

  Expected<> decode(std::span<const std::byte> encoded, Tensor& into) const override {
    const std::size_t count = element_count_of(into);
    PARETO_TRY(check_encoded(*this, encoded, 2 * count, into));
    widest<Lengthen>(encoded.data(), count, into.mutable_bytes().data());
    return {};
  }
};

}  // namespace

const Codec* bf16() {
  static const BFloat16Codec kCodec;
  return &kCodec;
}

}  // namespace pareto::wire::codecs
