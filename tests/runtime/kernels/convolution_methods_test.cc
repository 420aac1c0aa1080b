#include "runtime/kernels/convolution_methods.h"

#include <gtest/gtest.h>

#include <thread>

namespace pareto::runtime::kernels {
namespace {

using KnownNumbers = KnownMethods<int, std::size_t>;

TEST(KnownMethods, TheFirstThatWasKeptStays) {
  KnownNumbers known;
  EXPECT_EQ(known.find(1), std::nullopt);
  known.keep(1, 10);
  known.keep(1, 20);
  EXPECT_EQ(known.find(1), 10U);
  EXPECT_EQ(known.find(2), std::nullopt);
}

TEST(KnownMethods, NoMoreAreKeptThanItMay) {
  KnownNumbers known;
  for (std::size_t i = 0; i < KnownNumbers::kMost + 10; ++i) known.keep(static_cast<int>(i), i);
  EXPECT_EQ(known.find(static_cast<int>(KnownNumbers::kMost) - 1), KnownNumbers::kMost - 1);
  EXPECT_EQ(known.find(static_cast<int>(KnownNumbers::kMost)), std::nullopt);
  known.keep(0, 77);
  EXPECT_EQ(known.find(0), 0U);
}

TEST(KnownMethods, AllThreadsFindTheSame) {
  KnownMethods<std::vector<std::int64_t>, std::size_t> known;
  std::vector<std::vector<std::size_t>> found(4);
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < found.size(); ++thread) {
    threads.emplace_back([&, thread] {
      for (std::int64_t key = 0; key < 200; ++key) {
        known.keep({key, key}, thread);
        found[thread].push_back(known.find({key, key}).value());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& one : found) EXPECT_EQ(one, found[0]);
}

TEST(KnownMethods, ThoseOfTheProcessTellKeysApart) {
  ConvolutionKey key{};
  key.fill(-777);  // no layer has sizes below 0
  EXPECT_EQ(convolution_methods().find(key), std::nullopt);
  convolution_methods().keep(key, {.winograd = true, .cut = Cut::kRows});
  EXPECT_EQ(convolution_methods().find(key), (ConvolutionMethod{true, Cut::kRows}));
  for (std::size_t i = 0; i < key.size(); ++i) {
    ConvolutionKey other = key;
    other[i] = -778;
    EXPECT_EQ(convolution_methods().find(other), std::nullopt) << i;
  }
  chain_methods().keep({-777}, 5);
  EXPECT_EQ(chain_methods().find({-777}), 5U);
  EXPECT_EQ(chain_methods().find({-777, 0}), std::nullopt);
}

}  // namespace
}  // namespace pareto::runtime::kernels
