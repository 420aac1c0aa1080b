#include <bit>

#include "core/wire/codecs/codecs.h"
#include "core/wire/codecs/halving_codec.h"
#include "core/wire/codecs/widest.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pareto::wire::codecs {
namespace {

// In integers and without branches, so that compilers make vectors of it on any CPU.

/// Rounds to the nearest, ties to even; what is too large becomes infinity, a NaN stays one.
PARETO_INLINE std::uint16_t half_of(std::uint32_t bits) {
  constexpr std::uint32_t kInfinity = 0x7F80'0000;
  constexpr std::uint32_t kTooLarge = (127 + 16) << 23;        // 2^16
  constexpr std::uint32_t kSmallestNormal = (127 - 14) << 23;  // 2^-14
  // Added to a smaller number, its last bit has the weight of a half's last bit: the addition
  // rounds.
  constexpr std::uint32_t kRoundingBits = (127 - 15 + 23 - 10 + 1) << 23;
  const std::uint32_t sign = bits & 0x8000'0000;
  const std::uint32_t size = bits ^ sign;
  const std::uint32_t normal = (size - ((127 - 15) << 23) + 0xFFF + ((size >> 13) & 1)) >> 13;
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) +
                                   std::bit_cast<float>(kRoundingBits)) -
      kRoundingBits;
  const std::uint32_t special = size > kInfinity ? 0x7E00 : 0x7C00;
  const std::uint32_t finite = size < kSmallestNormal ? subnormal : normal;
  return static_cast<std::uint16_t>((size >= kTooLarge ? special : finite) | (sign >> 16));
}

PARETO_INLINE std::uint32_t float_of(std::uint16_t half) {
  constexpr std::uint32_t kExponent = 0x7C00 << 13;
  constexpr std::uint32_t kSmallestNormal = (127 - 14) << 23;
  const std::uint32_t shifted = (half & 0x7FFFU) << 13;
  const std::uint32_t exponent = shifted & kExponent;
  const std::uint32_t normal = shifted + ((127 - 15) << 23);
  const std::uint32_t special = normal + ((128 - 16) << 23);
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(
      std::bit_cast<float>(shifted + kSmallestNormal) - std::bit_cast<float>(kSmallestNormal));
  const std::uint32_t finite = exponent == 0 ? subnormal : normal;
  return (exponent == kExponent ? special : finite) | ((half & 0x8000U) << 16);
}

struct ShortenToFp16 {
  PARETO_INLINE static void run(const std::byte* from, std::size_t count, std::byte* to) {
    const Word* const in = reinterpret_cast<const Word*>(from);
    Half* const out = reinterpret_cast<Half*>(to);
    for (std::size_t i = 0; i < count; ++i) out[i] = half_of(in[i]);
  }
};

struct LengthenFromFp16 {
  PARETO_INLINE static void run(const std::byte* from, std::size_t count, std::byte* to) {
    const Half* const in = reinterpret_cast<const Half*>(from);
    Word* const out = reinterpret_cast<Word*>(to);
    for (std::size_t i = 0; i < count; ++i) out[i] = float_of(in[i]);
  }
};

// The CPU's own instruction where it has one; these return how many elements they did.
#if defined(__x86_64__)
PARETO_AVX2 std::size_t shorten_eights(const std::byte* from, std::size_t count, std::byte* to) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256 floats = _mm256_loadu_ps(reinterpret_cast<const float*>(from + 4 * i));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * i),
                     _mm256_cvtps_ph(floats, _MM_FROUND_TO_NEAREST_INT));
  }
  return i;
}

PARETO_AVX2 std::size_t lengthen_eights(const std::byte* from, std::size_t count, std::byte* to) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 2 * i));
    _mm256_storeu_ps(reinterpret_cast<float*>(to + 4 * i), _mm256_cvtph_ps(halves));
  }
  return i;
}

bool has_instruction() { return width() != Width::kBaseline; }
#else
std::size_t shorten_eights(const std::byte*, std::size_t, std::byte*) { return 0; }
std::size_t lengthen_eights(const std::byte*, std::size_t, std::byte*) { return 0; }
bool has_instruction() { return false; }
#endif

void shorten(const std::byte* from, std::size_t count, std::byte* to) {
  const std::size_t done = has_instruction() ? shorten_eights(from, count, to) : 0;
  if (done < count) widest<ShortenToFp16>(from + 4 * done, count - done, to + 2 * done);
}

void lengthen(const std::byte* from, std::size_t count, std::byte* to) {
  const std::size_t done = has_instruction() ? lengthen_eights(from, count, to) : 0;
  if (done < count) widest<LengthenFromFp16>(from + 2 * done, count - done, to + 4 * done);
}

}  // namespace

const Codec* fp16() {
  static const HalvingCodec kCodec("fp16", 1, shorten, lengthen);
  return &kCodec;
}

}  // namespace pareto::wire::codecs
