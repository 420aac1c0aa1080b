#include "core/wire/codecs/codecs.h"
#include "core/wire/codecs/halving_codec.h"
#include "core/wire/codecs/widest.h"

namespace pareto::wire::codecs {
namespace {

/// Shortens to the nearest, ties to even; a NaN stays one.
struct ShortenToBf16 {
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

struct LengthenFromBf16 {
  PARETO_INLINE static void run(const std::byte* from, std::size_t count, std::byte* to) {
    const Half* const in = reinterpret_cast<const Half*>(from);
    Word* const out = reinterpret_cast<Word*>(to);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint32_t>(in[i]) << 16;
  }
};

}  // namespace

const Codec* bf16() {
  static const HalvingCodec kCodec("bf16", 2, widest<ShortenToBf16>, widest<LengthenFromBf16>);
  return &kCodec;
}

}  // namespace pareto::wire::codecs
