// Vectors of 16 numbers, which compilers split where the processor's are narrower, and the width
// that this processor has. Internal to runtime; no LibTorch.
//
// A kernel is written once, always inlined, and called by three functions: PARETO_AVX512,
// PARETO_AVX2 and a plain one. Vectors never cross a call that is not inlined, so no ABI depends on
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#define PARETO_INLINE inline __attribute__((always_inline))

#if defined(__x86_64__)
#define PARETO_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma")))
#define PARETO_AVX2 __attribute__((target("avx2,fma")))
#endif

namespace pareto::runtime::kernels {

constexpr std::size_t kLanes = 16;
using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));
using Words = std::uint32_t __attribute__((vector_size(kLanes * sizeof(std::uint32_t))));

template <typename Vector>
PARETO_INLINE void load(const float* from, Vector& to) {
  std::memcpy(&to, from, sizeof(to));
}
template <typename Vector>
PARETO_INLINE void store(const Vector& from, float* to) {
  std::memcpy(to, &from, sizeof(from));
}

enum class VectorWidth { kBaseline, kAvx2, kAvx512 };

/// Returns the widest that this processor has.
inline VectorWidth vector_width() {
#if defined(__x86_64__)
  static const VectorWidth known = [] {
    __builtin_cpu_init();
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (avx512) return VectorWidth::kAvx512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? VectorWidth::kAvx2
                                                                           : VectorWidth::kBaseline;
  }();
  return known;
#else
  return VectorWidth::kBaseline;
#endif
}

}  // namespace pareto::runtime::kernels
