// Tensors for the suites over builtin_codecs(): ordinary ones and those that codecs trip over.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/tensor.h"
#include "core/wire/codec.h"

namespace pareto::wire {

inline Tensor tensor_from(const std::vector<float>& values, Shape shape) {
  auto tensor = *Tensor::allocate(DType::kFloat32, std::move(shape));
  if (!values.empty()) {
    std::memcpy(tensor.mutable_bytes().data(), values.data(), tensor.size_bytes());
  }
  return tensor;
}

inline Tensor tensor_from(const std::vector<float>& values) {
  return tensor_from(values, {static_cast<std::int64_t>(values.size())});
}

/// Returns the same numbers, in another order in memory.
inline Tensor channels_last(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  auto moved = *Tensor::allocate(tensor.dtype(), shape, MemoryLayout::kChannelsLast);
  const std::size_t size = size_of(tensor.dtype());
  const auto channels = static_cast<std::size_t>(shape[1]);
  const auto plane = static_cast<std::size_t>(shape[2] * shape[3]);
  for (std::size_t from = 0; from * size < tensor.size_bytes(); ++from) {
    const std::size_t image = from / (channels * plane);
    const std::size_t channel = from / plane % channels;
    const std::size_t to = (image * plane + from % plane) * channels + channel;
    std::memcpy(moved.mutable_bytes().data() + to * size, tensor.bytes().data() + from * size,
                size);
  }
  return moved;
}

inline Tensor random_bytes(std::mt19937& random, DType dtype, Shape shape) {
  auto tensor = *Tensor::allocate(dtype, std::move(shape));
  for (std::byte& byte : tensor.mutable_bytes()) byte = static_cast<std::byte>(random());
  return tensor;
}

/// Makes a tensor as after a ReLU: normal around `mean`, negative ones zero if `clipped`.
inline Tensor activations(std::mt19937& random, Shape shape, float mean = 0, bool clipped = true) {
  std::normal_distribution<float> normal(mean, 1.0F);
  std::vector<float> values(static_cast<std::size_t>(*element_count(shape)));
  for (float& value : values) {
    value = normal(random);
    if (clipped) value = std::max(value, 0.0F);
  }
  return tensor_from(values, std::move(shape));
}

struct Named {
  std::string name;
  Tensor tensor;
};

/// Returns tensors of finite numbers only.
inline std::vector<Named> finite_tensors() {
  constexpr float kLeast = std::numeric_limits<float>::min();
  constexpr float kMost = std::numeric_limits<float>::max();
  std::mt19937 random(11);
  std::vector<Named> all{
      {"no elements", tensor_from({}, {0, 3})},
      {"no channels", tensor_from({}, {3, 0, 2})},
      {"a scalar", tensor_from({2.5F}, {})},
      {"a scalar zero", tensor_from({0.0F}, {})},
      {"zeros", tensor_from(std::vector<float>(1000))},
      {"negative zeros", tensor_from(std::vector<float>(1000, -0.0F))},
      {"one number", tensor_from(std::vector<float>(1000, 0.1F), {10, 10, 10})},
      {"one negative number", tensor_from(std::vector<float>(77, -3e30F))},
      {"one subnormal number", tensor_from(std::vector<float>(77, 1e-42F))},
      {"numbers far from zero", tensor_from({1e6F, 1e6F + 0.0625F, 1e6F + 0.25F, 1e6F + 1})},
      {"numbers far below zero", tensor_from({-1000.25F, -1000.5F, -1001.0F})},
      {"one step from zero", tensor_from({1, 256, 128, 2, 3})},
      {"around the smallest normal", tensor_from({kLeast, -kLeast, 3 * kLeast, 1000 * kLeast, 0})},
      {"the whole range", tensor_from({-kMost, kMost, 0, 1})},
      {"half of the range", tensor_from({0, kMost, kMost / 2, 1e30F})},
      {"more than a half holds", tensor_from({65504, 65519, -65519, 1, 0.5F})},
      {"features", activations(random, {1, 24, 14, 14})},
      {"a batch", activations(random, {3, 5, 7, 9}, 0, false)},
      {"channels last", channels_last(activations(random, {1, 24, 14, 14}))},
      {"a batch, channels last", channels_last(activations(random, {3, 21, 7, 9}, 0, false))},
      {"no elements, channels last", channels_last(tensor_from({}, {2, 3, 0, 4}))},
      {"logits", activations(random, {1, 1000}, -5, false)},
  };
  for (const std::int64_t size : {1, 2, 15, 16, 17, 31, 63, 64, 65, 127, 128, 129, 1001, 4099}) {
    all.push_back({"features of " + std::to_string(size), activations(random, {size})});
    all.push_back({"dense of " + std::to_string(size), activations(random, {size}, 9, false)});
  }
  return all;
}

/// Returns tensors with a NaN or an infinity somewhere.
inline std::vector<Named> broken_tensors() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  std::vector<Named> all;
  for (const float bad : {kNan, -kNan, kInfinity, -kInfinity}) {
    for (const std::size_t at : {0, 1, 15, 16, 39, 64, 99}) {
      std::vector<float> values(100, 1.5F);
      values[7] = -2;
      values[at] = bad;
      all.push_back(
          {std::to_string(bad) + " at " + std::to_string(at), tensor_from(values, {2, 5, 10})});
    }
    all.push_back({"only " + std::to_string(bad), tensor_from(std::vector<float>(33, bad))});
  }
  return all;
}

/// "int8_zstd": the name of a codec as that of a test.
struct CodecName {
  template <typename Info>
  std::string operator()(const Info& of) const {
    std::string name(of.param->name());
    for (char& c : name) c = c == '-' || c == '+' ? '_' : c;
    return name;
  }
};

inline std::vector<DType> every_dtype() {
  std::vector<DType> all;
  for (int number = 0; number < 256; ++number) {
    const auto dtype = dtype_from_number(static_cast<std::uint8_t>(number));
    if (dtype) all.push_back(*dtype);
  }
  return all;
}

}  // namespace pareto::wire
