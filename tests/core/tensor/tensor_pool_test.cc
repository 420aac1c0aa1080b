#include "core/tensor/tensor_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace pareto {
namespace {

Tensor take(TensorPool& pool, std::int64_t elements) {
  auto tensor = pool.allocate(DType::kFloat32, {elements});
  EXPECT_TRUE(tensor);
  return tensor ? *std::move(tensor) : Tensor();
}

TEST(TensorPool, MemoryServesTheNextTensorOfItsSize) {
  TensorPool pool;
  const std::byte* first = nullptr;
  {
    const Tensor tensor = take(pool, 100'000);
    first = tensor.bytes().data();
    EXPECT_EQ(tensor.size_bytes(), 400'000U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % Tensor::kAlignment, 0U);
    EXPECT_EQ(pool.idle_bytes(), 0U);
  }
  EXPECT_GE(pool.idle_bytes(), 400'000U);
  const Tensor again = take(pool, 99'000);
  EXPECT_EQ(again.bytes().data(), first);
  EXPECT_EQ(pool.idle_bytes(), 0U);
}

TEST(TensorPool, SmallTensorsToo) {
  TensorPool pool;
  const std::byte* first = nullptr;
  {
    Tensor tensor = take(pool, 3);
    first = tensor.bytes().data();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % Tensor::kAlignment, 0U);
    // All of it is the tensor's, and a copy counts.
    std::memset(tensor.mutable_bytes().data(), 0xFF, tensor.size_bytes());
    const Tensor copy = tensor;
    EXPECT_EQ(copy.owner().use_count(), 2);
  }
  EXPECT_LE(pool.idle_bytes(), 1024U);
  EXPECT_EQ(take(pool, 3).bytes().data(), first);
}

TEST(TensorPool, OnlySoManyLieIdle) {
  TensorPool pool;
  std::vector<Tensor> many;
  for (int i = 0; i < 3000; ++i) many.push_back(take(pool, 16));
  many.resize(1, Tensor());
  const std::uint64_t idle = pool.idle_bytes();
  many.clear();
  EXPECT_EQ(pool.idle_bytes(), idle) << "the oldest of them goes";
}

TEST(TensorPool, ThreadsShareIt) {
  TensorPool pool;
  const auto work = [&pool](std::byte mark) {
    for (std::int64_t i = 0; i < 3000; ++i) {
      Tensor tensor = take(pool, 1000 + i % 3);
      std::ranges::fill(tensor.mutable_bytes(), mark);
      EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(tensor.bytes(), mark)),
                tensor.size_bytes());
    }
  };
  const std::jthread other([&] { work(std::byte{1}); });
  work(std::byte{2});
}

TEST(TensorPool, MemoryInUseIsNotGivenTwiceAndMuchLargerIsNotWasted) {
  TensorPool pool;
  auto first = std::make_unique<Tensor>(take(pool, 100'000));
  const Tensor copy = *first;
  first.reset();
  EXPECT_EQ(pool.idle_bytes(), 0U) << "a copy still refers to it";
  { const Tensor large = take(pool, 1'000'000); }
  const std::uint64_t idle = pool.idle_bytes();
  const Tensor small = take(pool, 100'000);
  EXPECT_EQ(pool.idle_bytes(), idle);
}

TEST(TensorPool, WhatLiesIdleIsBoundedAndTheOldestGoes) {
  TensorPool pool(3'000'000);
  {
    const Tensor a = take(pool, 250'000);
    const Tensor b = take(pool, 300'000);
    const Tensor c = take(pool, 350'000);
  }
  EXPECT_LE(pool.idle_bytes(), 3'000'000U);
  EXPECT_GE(pool.idle_bytes(), 2'000'000U);
  { const Tensor alone = take(pool, 2'000'000); }
  EXPECT_LE(pool.idle_bytes(), 3'000'000U) << "one that is larger than the bound is not kept";
}

TEST(TensorPool, TensorsOutliveIt) {
  auto pool = std::make_unique<TensorPool>();
  Tensor tensor = take(*pool, 100'000);
  pool.reset();
  tensor.mutable_bytes()[399'999] = std::byte{1};
  EXPECT_EQ(tensor.bytes()[399'999], std::byte{1});
}

TEST(TensorPool, RefusesWhatTensorsRefuse) {
  TensorPool pool;
  EXPECT_EQ(pool.allocate(DType::kFloat32, {-1}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(pool.allocate(DType::kFloat64, {std::int64_t{1} << 62}).error().code,
            ErrorCode::kExhausted);
  EXPECT_EQ(take(pool, 0).size_bytes(), 0U);
}

}  // namespace
}  // namespace pareto
