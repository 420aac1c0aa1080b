#include "runtime/kernels/picture_arithmetic.h"

#include <array>

#include "runtime/kernels/vectors.h"

namespace pareto::runtime::kernels {
namespace {

using Eight = float __attribute__((vector_size(8 * sizeof(float))));

/// Calls body(vector, first) for groups of numbers that cover `count`: several vectors at
/// once as long as they fit, and single numbers at the end.
template <typename Body>
PARETO_INLINE void by_vectors(std::size_t count, const Body& body) {
  std::size_t first = 0;
  for (; first + 4 * kLanes <= count; first += 4 * kLanes) body(std::array<Floats, 4>{}, first);
  for (; first + kLanes <= count; first += kLanes) body(std::array<Floats, 1>{}, first);
  for (; first + 8 <= count; first += 8) body(std::array<Eight, 1>{}, first);
  for (; first < count; ++first) body(std::array<float, 1>{}, first);
}

/// Number of rows of weights for which memory is asked ahead of the sums.
constexpr std::size_t kRowsAhead = 12;

template <typename Vectors>
constexpr std::size_t kLanesOf = sizeof(typename Vectors::value_type) / sizeof(float);

/// Returns numerator / (1 + exp(-x)).
PARETO_INLINE Floats logistic(const Floats& x, const Floats& numerator) {
  constexpr float kLog2E = 1.44269504F;
  constexpr float kMost = 126;            // 2 to more is no number any more
  constexpr float kMagic = 12'582'912.F;  // 1.5 * 2^23: a sum with it has no fraction
  Floats power = x * -kLog2E;
  // In this order a NaN stays one.
  power = power < -kMost ? Floats{} - kMost : power;
  power = power > kMost ? Floats{} + kMost : power;
  const Floats shifted = power + kMagic;
  const Floats f = power - (shifted - kMagic);
  // 2 to the power of f, to 1e-7 where f is between -0.5 and 0.5.
  Floats e = f * 1.32647257e-3F + 9.67151367e-3F;
  e = e * f + 5.55073374e-2F;
  e = e * f + 2.40222421e-1F;
  e = e * f + 6.93146978e-1F;
  e = e * f + 1.F;
  const Words whole = reinterpret_cast<Words>(shifted) << 23;
  e = reinterpret_cast<Floats>(reinterpret_cast<Words>(e) + whole);
  return numerator / (1.F + e);
}

struct Silu {
  PARETO_INLINE static Floats of(const Floats& x) { return logistic(x, x); }
};
struct Sigmoid {
  PARETO_INLINE static Floats of(const Floats& x) { return logistic(x, Floats{} + 1.F); }
};

template <typename Function>
PARETO_INLINE void apply_all(float* numbers, std::size_t count) {
  std::size_t first = 0;
  for (; first + 2 * kLanes <= count; first += 2 * kLanes) {
    Floats a;
    Floats b;
    load(numbers + first, a);
    load(numbers + first + kLanes, b);
    store(Function::of(a), numbers + first);
    store(Function::of(b), numbers + first + kLanes);
  }
  while (first < count) {
    const std::size_t some = count - first < kLanes ? count - first : kLanes;
    Floats last{};
    std::memcpy(&last, numbers + first, some * sizeof(float));
    last = Function::of(last);
    std::memcpy(numbers + first, &last, some * sizeof(float));
    first += some;
  }
}

PARETO_INLINE void add_all(const float* pixels, std::size_t count, std::size_t channels,
                           float* sums) {
  by_vectors(
      channels, [=](auto vectors, std::size_t first) __attribute__((always_inline)) {
        constexpr std::size_t kStep = kLanesOf<decltype(vectors)>;
        for (std::size_t v = 0; v < vectors.size(); ++v) load(sums + first + v * kStep, vectors[v]);
        const float* pixel = pixels + first;
        for (std::size_t p = 0; p < count; ++p, pixel += channels) {
          for (std::size_t v = 0; v < vectors.size(); ++v) {
            typename decltype(vectors)::value_type numbers;
            load(pixel + v * kStep, numbers);
            vectors[v] += numbers;
          }
        }
        for (std::size_t v = 0; v < vectors.size(); ++v)
          store(vectors[v], sums + first + v * kStep);
      });
}

PARETO_INLINE void scale_all(const float* pixels, std::size_t count, std::size_t channels,
                             const float* factors, float* result) {
  for (std::size_t p = 0; p < count; ++p, pixels += channels, result += channels) {
    by_vectors(
        channels, [=](auto vectors, std::size_t first) __attribute__((always_inline)) {
          constexpr std::size_t kStep = kLanesOf<decltype(vectors)>;
          for (std::size_t v = 0; v < vectors.size(); ++v) {
            typename decltype(vectors)::value_type factor;
            load(factors + first + v * kStep, factor);
            load(pixels + first + v * kStep, vectors[v]);
            store(vectors[v] * factor, result + first + v * kStep);
          }
        });
  }
}

PARETO_INLINE void add_all_products(const float* inputs, std::size_t count, const float* weights,
                                    std::size_t stride, std::size_t outputs, float* results) {
  by_vectors(
      outputs, [=](auto vectors, std::size_t first) __attribute__((always_inline)) {
        constexpr std::size_t kStep = kLanesOf<decltype(vectors)>;
        for (std::size_t v = 0; v < vectors.size(); ++v)
          load(results + first + v * kStep, vectors[v]);
        const float* row = weights + first;
        for (std::size_t i = 0; i < count; ++i, row += stride) {
          for (std::size_t v = 0; v < vectors.size(); ++v) {
            typename decltype(vectors)::value_type weight;
            load(row + v * kStep, weight);
            vectors[v] += inputs[i] * weight;
          }
        }
        for (std::size_t v = 0; v < vectors.size(); ++v)
          store(vectors[v], results + first + v * kStep);
      });
}

#if defined(__x86_64__)
// The same once more for wider vectors, where the processor has them.
template <typename Function>
PARETO_AVX512 void apply_avx512(float* numbers, std::size_t count) {
  apply_all<Function>(numbers, count);
}
template <typename Function>
PARETO_AVX2 void apply_avx2(float* numbers, std::size_t count) {
  apply_all<Function>(numbers, count);
}
PARETO_AVX512 void add_avx512(const float* pixels, std::size_t count, std::size_t channels,
                              float* sums) {
  add_all(pixels, count, channels, sums);
}
PARETO_AVX2 void add_avx2(const float* pixels, std::size_t count, std::size_t channels,
                          float* sums) {
  add_all(pixels, count, channels, sums);
}
PARETO_AVX512 void scale_avx512(const float* pixels, std::size_t count, std::size_t channels,
                                const float* factors, float* result) {
  scale_all(pixels, count, channels, factors, result);
}
PARETO_AVX2 void scale_avx2(const float* pixels, std::size_t count, std::size_t channels,
                            const float* factors, float* result) {
  scale_all(pixels, count, channels, factors, result);
}
PARETO_AVX512 void products_avx512(const float* inputs, std::size_t count, const float* weights,
                                   std::size_t stride, std::size_t outputs, float* results) {
  add_all_products(inputs, count, weights, stride, outputs, results);
}
PARETO_AVX2 void products_avx2(const float* inputs, std::size_t count, const float* weights,
                               std::size_t stride, std::size_t outputs, float* results) {
  add_all_products(inputs, count, weights, stride, outputs, results);
}
#define PARETO_BY_WIDTH(avx512, avx2, baseline, ...) \
  switch (vector_width()) {                          \
    case VectorWidth::kAvx512:                       \
      return avx512(__VA_ARGS__);                    \
    case VectorWidth::kAvx2:                         \
      return avx2(__VA_ARGS__);                      \
    case VectorWidth::kBaseline:                     \
      return baseline(__VA_ARGS__);                  \
  }
#else
#define PARETO_BY_WIDTH(avx512, avx2, baseline, ...) return baseline(__VA_ARGS__);
#endif

}  // namespace

void silu(float* numbers, std::size_t count) {
  PARETO_BY_WIDTH(apply_avx512<Silu>, apply_avx2<Silu>, apply_all<Silu>, numbers, count)
}

void sigmoid(float* numbers, std::size_t count) {
  PARETO_BY_WIDTH(apply_avx512<Sigmoid>, apply_avx2<Sigmoid>, apply_all<Sigmoid>, numbers, count)
}

void add_pixels(const float* pixels, std::size_t count, std::size_t channels, float* sums) {
  PARETO_BY_WIDTH(add_avx512, add_avx2, add_all, pixels, count, channels, sums)
}

void scale_pixels(const float* pixels, std::size_t count, std::size_t channels,
                  const float* factors, float* result) {
  PARETO_BY_WIDTH(scale_avx512, scale_avx2, scale_all, pixels, count, channels, factors, result)
}

void add_products(const float* inputs, std::size_t count, const float* weights, std::size_t stride,
                  std::size_t outputs, float* results) {
  PARETO_BY_WIDTH(products_avx512, products_avx2, add_all_products, inputs, count, weights, stride,
                  outputs, results)
}

}  // namespace pareto::runtime::kernels
