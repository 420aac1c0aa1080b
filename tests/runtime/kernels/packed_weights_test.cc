// What engines of one process have in common.
#include "runtime/kernels/packed_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "runtime/shard_runner.h"

namespace pareto::runtime::kernels {
namespace {

using dnnl::memory;

class PackedWeightsTest : public testing::Test {
 protected:
  static memory::desc layout_of(memory::dim rows, memory::dim columns) {
    return {{rows, columns}, memory::data_type::f32, memory::format_tag::ab};
  }
  /// Returns weights of which all numbers are `value`.
  memory weights(const memory::desc& layout, float value) const {
    memory made(layout, engine_);
    auto* const numbers = static_cast<float*>(made.get_data_handle());
    std::fill_n(numbers, layout.get_size() / sizeof(float), value);
    return made;
  }
  static float first_of(const memory& weights) {
    return *static_cast<const float*>(weights.get_data_handle());
  }
  static kernels::WeightContent content(float value) {
    return kernels::content_of(std::as_bytes(std::span(&value, 1)));
  }

  const dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
};

TEST_F(PackedWeightsTest, ContentIsThatOfAllBytes) {
  std::vector<std::byte> bytes(1000);
  const kernels::WeightContent zeros = kernels::content_of(bytes);
  EXPECT_EQ(kernels::content_of(std::vector<std::byte>(1000)), zeros);
  for (const std::size_t place : {0U, 500U, 999U}) {
    bytes[place] = std::byte{1};
    EXPECT_NE(kernels::content_of(bytes), zeros) << place;
    bytes[place] = std::byte{0};
  }
  EXPECT_NE(kernels::content_of(std::span(bytes).first(999)), zeros);
}

TEST_F(PackedWeightsTest, WhatOneKeepsOthersFind) {
  const memory::desc layout = layout_of(4, 8);
  kernels::PackedWeights one;
  kernels::PackedWeights other;
  EXPECT_FALSE(other.find(content(1), layout, engine_));
  memory packed = weights(layout, 1);
  const memory kept = one.keep(content(1), packed);
  EXPECT_NE(kept.get_data_handle(), packed.get_data_handle());
  EXPECT_EQ(one.keep(content(1), kept).get_data_handle(), kept.get_data_handle());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(kept.get_data_handle()) % 64, 0U);

  const auto found = other.find(content(1), layout, engine_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->get_data_handle(), kept.get_data_handle());
  EXPECT_EQ(first_of(*found), 1);
  EXPECT_FALSE(other.find(content(2), layout, engine_)) << "other numbers";
  EXPECT_FALSE(other.find(content(1), layout_of(8, 4), engine_)) << "another layout";
  EXPECT_EQ(other.bytes(), 0U) << "not kept";
  for (int i = 0; i < 2; ++i) {
    other.keep(content(1), *other.find(content(1), layout, engine_));
    EXPECT_EQ(other.bytes(), layout.get_size());
  }
}

TEST_F(PackedWeightsTest, WhatWasKeptMeanwhileIsTaken) {
  kernels::PackedWeights one;
  kernels::PackedWeights other;
  const memory::desc layout = layout_of(2, 2);
  const memory first = one.keep(content(3), weights(layout, 3));
  EXPECT_EQ(other.keep(content(3), weights(layout, 3)).get_data_handle(), first.get_data_handle());
}

TEST_F(PackedWeightsTest, TheyGoWithTheLastThatHoldsThem) {
  const memory::desc layout = layout_of(1024, 2048);  // more than lies together with others
  const std::uint64_t before = kernels::packed_weight_bytes();
  auto one = std::make_unique<kernels::PackedWeights>();
  auto other = std::make_unique<kernels::PackedWeights>();
  one->keep(content(5), weights(layout, 5));
  const std::uint64_t held = kernels::packed_weight_bytes();
  EXPECT_GE(held, before + layout.get_size());
  ASSERT_TRUE(other->find(content(5), layout, engine_));
  one.reset();
  EXPECT_EQ(kernels::packed_weight_bytes(), held);
  EXPECT_EQ(first_of(*other->find(content(5), layout, engine_)), 5);
  other.reset();
  EXPECT_EQ(kernels::packed_weight_bytes(), before);
  EXPECT_FALSE(kernels::PackedWeights().find(content(5), layout, engine_));
}

TEST_F(PackedWeightsTest, ThousandsComeAndGo) {
  const memory::desc layout = layout_of(128, 128);
  const std::uint64_t before = kernels::packed_weight_bytes();
  kernels::PackedWeights stays;
  stays.keep(content(-1), weights(layout, -1));
  for (int engine = 0; engine < 40; ++engine) {
    kernels::PackedWeights goes;
    for (int i = 0; i < 50; ++i) {
      const auto number = static_cast<float>(engine * 50 + i);
      EXPECT_EQ(first_of(goes.keep(content(number), weights(layout, number))), number);
    }
    EXPECT_EQ(first_of(*goes.find(content(-1), layout, engine_)), -1);
  }
  EXPECT_LE(kernels::packed_weight_bytes(), before + (std::uint64_t{8} << 20))
      << "the last two chunks";
}

TEST_F(PackedWeightsTest, OfManyThreadsAllGetTheSame) {
  const memory::desc layout = layout_of(64, 64);
  std::vector<kernels::PackedWeights> engines(8);
  std::vector<const void*> places(engines.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < engines.size(); ++i) {
      threads.emplace_back([&, i] {
        auto found = engines[i].find(content(7), layout, engine_);
        if (!found) found = engines[i].keep(content(7), weights(layout, 7));
        places[i] = found->get_data_handle();
        EXPECT_EQ(first_of(*found), 7);
      });
    }
  }
  EXPECT_EQ(places, std::vector<const void*>(places.size(), places.front()));
}

}  // namespace
}  // namespace pareto::runtime::kernels
