#include "runtime/kernels/winograd_transform.h"

#include <cstring>

#include "runtime/kernels/vectors.h"

namespace pareto::runtime::kernels::winograd {
namespace {

using Halves = std::uint16_t __attribute__((vector_size(kLanes * sizeof(std::uint16_t))));

using kernels::load;
using kernels::store;

PARETO_INLINE void load(const BFloat16* from, Floats& to) {
  Halves halves;
  std::memcpy(&halves, from, sizeof(halves));
  to = reinterpret_cast<Floats>(__builtin_convertvector(halves, Words) << 16);
}

/// Rounds to the nearest, ties to even; a NaN stays one.
PARETO_INLINE void store(const Floats& from, BFloat16* to) {
  const Words words = reinterpret_cast<Words>(from);
  const Words rounded = words + 0x7FFF + ((words >> 16) & 1);
  const Words quiet = words | 0x0040'0000;
  const Words chosen = from == from ? rounded : quiet;
  const Halves halves = __builtin_convertvector(chosen >> 16, Halves);
  std::memcpy(to, &halves, sizeof(halves));
}

template <typename T>
PARETO_INLINE void input_tile(const std::array<const T*, kPoints>& pixels, T* result,
                              std::size_t plane, std::size_t channels) {
  for (std::size_t c = 0; c < channels; c += kLanes) {
    std::array<Floats, kPoints> columns;
    for (std::size_t j = 0; j < kInputTile; ++j) {
      std::array<Floats, kInputTile> x;
      for (std::size_t i = 0; i < kInputTile; ++i) load(pixels[i * kInputTile + j] + c, x[i]);
      columns[j] = x[0] - x[2];
      columns[4 + j] = x[1] + x[2];
      columns[8 + j] = x[2] - x[1];
      columns[12 + j] = x[1] - x[3];
    }
    for (std::size_t i = 0; i < kInputTile; ++i) {
      const Floats* const row = columns.data() + i * kInputTile;
      T* const to = result + i * kInputTile * plane + c;
      store(row[0] - row[2], to);
      store(row[1] + row[2], to + plane);
      store(row[2] - row[1], to + 2 * plane);
      store(row[1] - row[3], to + 3 * plane);
    }
  }
}

template <typename T>
PARETO_INLINE void finish_pixel(const Floats& sum, const Floats& bias, const Finish& finish,
                                T* pixel) {
  Floats value = sum + bias;
  if (finish.adds) {
    Floats before;
    load(pixel, before);
    value += before;
  }
  // In this order a NaN stays one.
  value = value < finish.low ? Floats{} + finish.low : value;
  value = value > finish.high ? Floats{} + finish.high : value;
  store(value, pixel);
}

template <typename T>
PARETO_INLINE void output_tile(const float* points, std::size_t plane, const Finish& finish,
                               const std::array<T*, kOutputTile * kOutputTile>& pixels,
                               std::size_t channels) {
  for (std::size_t c = 0; c < channels; c += kLanes) {
    std::array<Floats, kInputTile> upper;
    std::array<Floats, kInputTile> lower;
    for (std::size_t j = 0; j < kInputTile; ++j) {
      std::array<Floats, kInputTile> x;
      for (std::size_t i = 0; i < kInputTile; ++i) {
        load(points + (i * kInputTile + j) * plane + c, x[i]);
      }
      upper[j] = x[0] + x[1] + x[2];
      lower[j] = x[1] - x[2] - x[3];
    }
    Floats bias;
    load(finish.bias + c, bias);
    finish_pixel(upper[0] + upper[1] + upper[2], bias, finish, pixels[0] + c);
    finish_pixel(upper[1] - upper[2] - upper[3], bias, finish, pixels[1] + c);
    finish_pixel(lower[0] + lower[1] + lower[2], bias, finish, pixels[2] + c);
    finish_pixel(lower[1] - lower[2] - lower[3], bias, finish, pixels[3] + c);
  }
}

// The same once more for wider vectors, where the CPU it runs on has them.
#if defined(__x86_64__)
template <typename T>
PARETO_AVX512 void input_avx512(const std::array<const T*, kPoints>& pixels, T* result,
                                std::size_t plane, std::size_t channels) {
  input_tile(pixels, result, plane, channels);
}
template <typename T>
PARETO_AVX2 void input_avx2(const std::array<const T*, kPoints>& pixels, T* result,
                            std::size_t plane, std::size_t channels) {
  input_tile(pixels, result, plane, channels);
}
template <typename T>
PARETO_AVX512 void output_avx512(const float* points, std::size_t plane, const Finish& finish,
                                 const std::array<T*, kOutputTile * kOutputTile>& pixels,
                                 std::size_t channels) {
  output_tile(points, plane, finish, pixels, channels);
}
template <typename T>
PARETO_AVX2 void output_avx2(const float* points, std::size_t plane, const Finish& finish,
                             const std::array<T*, kOutputTile * kOutputTile>& pixels,
                             std::size_t channels) {
  output_tile(points, plane, finish, pixels, channels);
}
#endif

}  // namespace

std::vector<float> transform_weights(const float* kernels, std::size_t out, std::size_t in) {
  std::vector<float> result(kPoints * in * out);
  // One row or column of three becomes four.
  const auto widen = [](float a, float b, float c) {
    return std::array<float, 4>{a, (a + b + c) / 2, (a - b + c) / 2, c};
  };
  for (std::size_t o = 0; o < out; ++o) {
    for (std::size_t i = 0; i < in; ++i) {
      const float* const kernel = kernels + (o * in + i) * 9;
      std::array<std::array<float, 4>, 3> columns;
      for (std::size_t j = 0; j < 3; ++j) {
        columns[j] = widen(kernel[j], kernel[3 + j], kernel[6 + j]);
      }
      for (std::size_t y = 0; y < kInputTile; ++y) {
        const auto row = widen(columns[0][y], columns[1][y], columns[2][y]);
        for (std::size_t x = 0; x < kInputTile; ++x) {
          result[((y * kInputTile + x) * in + i) * out + o] = row[x];
        }
      }
    }
  }
  return result;
}

template <typename T>
void transform_input(const std::array<const T*, kPoints>& pixels, T* result, std::size_t plane,
                     std::size_t channels) {
#if defined(__x86_64__)
  switch (vector_width()) {
    case VectorWidth::kAvx512:
      return input_avx512(pixels, result, plane, channels);
    case VectorWidth::kAvx2:
      return input_avx2(pixels, result, plane, channels);
    case VectorWidth::kBaseline:
      break;
  }
#endif
  input_tile(pixels, result, plane, channels);
}

template <typename T>
void transform_output(const float* points, std::size_t plane, const Finish& finish,
                      const std::array<T*, kOutputTile * kOutputTile>& pixels,
                      std::size_t channels) {
#if defined(__x86_64__)
  switch (vector_width()) {
    case VectorWidth::kAvx512:
      return output_avx512(points, plane, finish, pixels, channels);
    case VectorWidth::kAvx2:
      return output_avx2(points, plane, finish, pixels, channels);
    case VectorWidth::kBaseline:
      break;
  }
#endif
  output_tile(points, plane, finish, pixels, channels);
}

template void transform_input(const std::array<const float*, kPoints>&, float*, std::size_t,
                              std::size_t);
template void transform_input(const std::array<const BFloat16*, kPoints>&, BFloat16*, std::size_t,
                              std::size_t);
template void transform_output(const float*, std::size_t, const Finish&,
                               const std::array<float*, 4>&, std::size_t);
template void transform_output(const float*, std::size_t, const Finish&,
                               const std::array<BFloat16*, 4>&, std::size_t);

}  // namespace pareto::runtime::kernels::winograd
