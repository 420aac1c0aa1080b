#include "core/wire/codecs/widest.h"

namespace pareto::wire::codecs {

#if defined(__x86_64__)
Width width() {
  static const Width kKnown = [] {
    __builtin_cpu_init();
    // No CPU has FMA and AVX2 without F16C; the builtin of older compilers does not know that name.
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                      __builtin_cpu_supports("popcnt");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl");
    if (avx512) return Width::kAvx512;
    return avx2 ? Width::kAvx2 : Width::kBaseline;
  }();
  return kKnown;
}
#endif

}  // namespace pareto::wire::codecs
