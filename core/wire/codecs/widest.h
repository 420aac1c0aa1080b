// Loops over elements, compiled once more for each wider vector unit and run on the widest the CPU
// has. Internal to core/wire/codecs.
//
//   struct Halve {
//     PARETO_INLINE static void run(const std::byte* from, std::size_t count, std::byte* to) {
//       …a plain loop…
//     }
//   };
//   widest<Halve>(from, count, to);
#pragma once

#include <cstdint>

#define PARETO_INLINE inline __attribute__((always_inline))

namespace pareto::wire::codecs {

// Elements as they lie in a tensor: its memory may be borrowed, and aligned as it comes. (To be
// named in full: `auto` loses it.)
using Float = float __attribute__((aligned(1), may_alias));
using Word = std::uint32_t __attribute__((aligned(1), may_alias));
using Half = std::uint16_t __attribute__((aligned(1), may_alias));
using Byte = std::uint8_t __attribute__((may_alias));

#if defined(__x86_64__)
#define PARETO_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2,popcnt")))
#define PARETO_AVX2 __attribute__((target("avx2,fma,f16c,bmi,bmi2,popcnt")))

enum class Width { kBaseline, kAvx2, kAvx512 };
/// Returns the width of the CPU this runs on; each has all that the attributes above name. Threads:
/// any.
Width width();

template <typename Loop, typename... Args>
PARETO_AVX512 void run_avx512(Args... args) {
  Loop::run(args...);
}
template <typename Loop, typename... Args>
PARETO_AVX2 void run_avx2(Args... args) {
  Loop::run(args...);
}
#endif

template <typename Loop, typename... Args>
void widest(Args... args) {
#if defined(__x86_64__)
  switch (width()) {
    case Width::kAvx512:
      return run_avx512<Loop>(args...);
    case Width::kAvx2:
      return run_avx2<Loop>(args...);
    case Width::kBaseline:
      break;
  }
#endif
  Loop::run(args...);
}

}  // namespace pareto::wire::codecs
