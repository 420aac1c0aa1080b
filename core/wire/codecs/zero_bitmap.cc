#include <algorithm>
#include <bit>
#include <cstring>

#include "core/wire/codecs/codecs.h"
#include "core/wire/codecs/support.h"
#include "core/wire/codecs/widest.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pareto::wire::codecs {
namespace {

constexpr std::size_t kElementBytes = 4;
/// Elements of one word of the bitmap.
constexpr std::size_t kGroup = 64;

std::size_t bitmap_bytes(std::size_t count) { return (count + kGroup - 1) / kGroup * 8; }

std::uint64_t load_bits(const std::byte* from) {
  std::uint64_t bits;
  std::memcpy(&bits, from, sizeof(bits));
  return bits;
}

/// Copies the elements of one group that are not zero to `kept`; returns their bits.
PARETO_INLINE std::uint64_t compact(const std::byte* from, std::size_t count, std::byte* kept) {
  const Word* const in = reinterpret_cast<const Word*>(from);
  Word* out = reinterpret_cast<Word*>(kept);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    // Written always, kept only where the next one does not overwrite it: no branch to be guessed
    // wrong.
    const std::uint32_t element = in[i];
    const bool is_kept = element != 0;
    *out = element;
    out += is_kept ? 1 : 0;
    bits |= static_cast<std::uint64_t>(is_kept) << i;
  }
  return bits;
}

/// Undoes packing. Reads as many elements of `kept` as there are bits; `kept_left` of them are
/// there, and not fewer than that.
PARETO_INLINE void spread(std::uint64_t bits, const std::byte* kept, std::size_t kept_left,
                          std::size_t count, std::byte* to) {
  Word* const out = reinterpret_cast<Word*>(to);
  if (kept_left == 0) {
    std::memset(to, 0, count * kElementBytes);
    return;
  }
  const Word* const in = reinterpret_cast<const Word*>(kept);
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bit = static_cast<std::uint32_t>(bits >> i) & 1;
    out[i] = in[std::min(next, kept_left - 1)] & (0 - bit);
    next += bit;
  }
}

#if defined(__x86_64__)
PARETO_AVX512 std::uint64_t compact_avx512(const std::byte* from, std::byte* kept) {
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < kGroup; i += 16) {
    const __m512i elements = _mm512_loadu_si512(from + i * kElementBytes);
    const __mmask16 mask = _mm512_test_epi32_mask(elements, elements);
    // Through a register: compressing straight into memory takes some CPUs a hundred cycles.
    _mm512_storeu_si512(kept, _mm512_maskz_compress_epi32(mask, elements));
    kept += static_cast<std::size_t>(std::popcount(static_cast<unsigned>(mask))) * kElementBytes;
    bits |= static_cast<std::uint64_t>(mask) << i;
  }
  return bits;
}

/// Spreads a whole group; at least 64 elements of `kept` are there to be read.
PARETO_AVX512 void spread_avx512(std::uint64_t bits, const std::byte* kept, std::byte* to) {
  for (unsigned i = 0; i < kGroup; i += 16) {
    const auto mask = static_cast<__mmask16>(bits >> i);
    const __m512i elements = _mm512_loadu_si512(kept);
    _mm512_storeu_si512(to + i * kElementBytes, _mm512_maskz_expand_epi32(mask, elements));
    kept += static_cast<std::size_t>(std::popcount(static_cast<unsigned>(mask))) * kElementBytes;
  }
}
#endif

/// Writes the bitmap and returns how many elements were kept.
std::size_t compact_all(const std::byte* from, std::size_t count, std::byte* bitmap,
                        std::byte* kept) {
#if defined(__x86_64__)
  const bool wide = width() == Width::kAvx512;
#endif
  std::size_t done = 0;
  for (std::size_t i = 0; i < count; i += kGroup) {
    const std::size_t group = std::min(kGroup, count - i);
    const std::byte* const elements = from + i * kElementBytes;
    std::byte* const to = kept + done * kElementBytes;
    std::uint64_t bits = 0;
#if defined(__x86_64__)
    bits = wide && group == kGroup ? compact_avx512(elements, to) : compact(elements, group, to);
#else
    bits = compact(elements, group, to);
#endif
    std::memcpy(bitmap + i / 8, &bits, sizeof(bits));
    done += static_cast<std::size_t>(std::popcount(bits));
  }
  return done;
}

/// The bits of all elements were counted before: there are `kept_count`.
void spread_all(const std::byte* bitmap, const std::byte* kept, std::size_t kept_count,
                std::size_t count, std::byte* to) {
#if defined(__x86_64__)
  const bool wide = width() == Width::kAvx512;
#endif
  std::size_t done = 0;
  for (std::size_t i = 0; i < count; i += kGroup) {
    const std::size_t group = std::min(kGroup, count - i);
    const std::uint64_t bits = load_bits(bitmap + i / 8);
    const std::byte* const elements = kept + done * kElementBytes;
    std::byte* const out = to + i * kElementBytes;
#if defined(__x86_64__)
    if (wide && group == kGroup && kept_count - done >= kGroup) {
      spread_avx512(bits, elements, out);
    } else {
      spread(bits, elements, kept_count - done, group, out);
    }
#else
    spread(bits, elements, kept_count - done, group, out);
#endif
    done += static_cast<std::size_t>(std::popcount(bits));
  }
}

class ZeroBitmapCodec final : public Codec {
 public:
  std::string_view name() const override { return "zero-bitmap"; }
  std::uint8_t number() const override { return 5; }
  bool lossless() const override { return true; }
  bool takes(DType dtype) const override { return size_of(dtype) == kElementBytes; }

  Expected<Tensor> encode(const Tensor& tensor) const override {
    PARETO_TRY(check_takes(*this, tensor));
    const std::size_t count = element_count_of(tensor);
    const std::size_t kept_at = bitmap_bytes(count);
    PARETO_ASSIGN(Tensor memory, allocate_bytes(kept_at + tensor.size_bytes()));
    std::byte* const to = memory.mutable_bytes().data();
    const std::size_t kept = compact_all(tensor.bytes().data(), count, to, to + kept_at);
    return first_bytes(memory, kept_at + kept * kElementBytes);
  }

  Expected<> decode(std::span<const std::byte> encoded, Tensor& into) const override {
    const std::size_t count = element_count_of(into);
    const std::size_t kept_at = bitmap_bytes(count);
    if (encoded.size() < kept_at) {
      return fail(ErrorCode::kCorrupt, "a bitmap of {} bytes for {} elements", encoded.size(),
                  count);
    }
    std::size_t kept = 0;
    for (std::size_t at = 0; at < kept_at; at += 8) {
      kept += static_cast<std::size_t>(std::popcount(load_bits(encoded.data() + at)));
    }
    PARETO_TRY(check_encoded(*this, encoded, kept_at + kept * kElementBytes, into));
    if (count % kGroup != 0 && load_bits(encoded.data() + kept_at - 8) >> count % kGroup != 0) {
      return fail(ErrorCode::kCorrupt, "bits behind those of the last element");
    }
    spread_all(encoded.data(), encoded.data() + kept_at, kept, count, into.mutable_bytes().data());
    return {};
  }
};

}  // namespace

const Codec* zero_bitmap() {
  static const ZeroBitmapCodec kCodec;
  return &kCodec;
}

}  // namespace pareto::wire::codecs
