#include "core/base/vector_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>

namespace pareto {
namespace {

TEST(VectorPool, AVectorServesTheNextOneOfItsSize) {
  VectorPool<int> pool(1 << 10);
  std::vector<int> first = pool.take(4);
  EXPECT_TRUE(first.empty());
  first.assign(4, 7);
  const int* const memory = first.data();
  pool.put(std::move(first));
  EXPECT_EQ(pool.idle_bytes(), 4 * sizeof(int));
  std::vector<int> again = pool.take(3);
  EXPECT_TRUE(again.empty());
  EXPECT_GE(again.capacity(), 3U);
  EXPECT_EQ(again.data(), memory);
  EXPECT_EQ(pool.idle_bytes(), 0U);
}

TEST(VectorPool, TheBestFitGoesAndMuchLargerOnesStay) {
  VectorPool<int> pool(1 << 10);
  std::vector<int> small(4);
  std::vector<int> fitting(5);
  const int* const memory = fitting.data();
  pool.put(std::move(small));
  pool.put(std::move(fitting));
  pool.put(std::vector<int>(6));
  pool.put(std::vector<int>(100));
  EXPECT_EQ(pool.take(5).data(), memory);
  EXPECT_EQ(pool.idle_bytes(), 110 * sizeof(int));
  EXPECT_GE(pool.take(10).capacity(), 10U);
  EXPECT_EQ(pool.idle_bytes(), 110 * sizeof(int)) << "a hundred places for ten";
}

TEST(VectorPool, WhatLiesIdleIsBounded) {
  VectorPool<int> pool(100 * sizeof(int));
  pool.put(std::vector<int>(60));
  pool.put(std::vector<int>(60));
  EXPECT_EQ(pool.idle_bytes(), 60 * sizeof(int));
  pool.put(std::vector<int>(40));
  EXPECT_EQ(pool.idle_bytes(), 100 * sizeof(int));
  pool.put({});
  EXPECT_EQ(pool.take(0).capacity(), 0U);
  EXPECT_EQ(pool.idle_bytes(), 100 * sizeof(int));
}

TEST(VectorPool, ElementsEndWhenTheyArePut) {
  VectorPool<std::shared_ptr<int>> pool(1 << 10);
  const auto element = std::make_shared<int>(1);
  pool.put({element, element});
  EXPECT_EQ(element.use_count(), 1);
}

TEST(VectorPool, ThreadsShareIt) {
  VectorPool<int> pool(1 << 10);
  const auto work = [&pool](int mark) {
    for (int i = 0; i < 10'000; ++i) {
      std::vector<int> mine = pool.take(8);
      mine.assign(8, mark);
      EXPECT_EQ(std::count(mine.begin(), mine.end(), mark), 8);
      pool.put(std::move(mine));
    }
  };
  const std::jthread other([&] { work(1); });
  work(2);
}

}  // namespace
}  // namespace pareto
