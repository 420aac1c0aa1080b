#include "runtime/kernels/layout_change.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <random>

namespace pareto::runtime::kernels {
namespace {

TEST(LayoutChange, IsWhatLibTorchMakesOfIt) {
  std::mt19937_64 random(1);
  at::manual_seed(1);
  LayoutChange change;
  for (int i = 0; i < 300; ++i) {
    std::vector<std::int64_t> sizes;
    for (int d = 0; d < 4; ++d) sizes.push_back(1 + static_cast<std::int64_t>(random() % 9));
    at::Tensor tensor = at::randn(sizes);
    const at::ScalarType types[] = {at::kFloat, at::kBFloat16, at::kDouble, at::kHalf, at::kInt};
    tensor = (tensor * 10).to(types[random() % 5]);
    if (random() % 2 == 0) tensor = tensor.contiguous(at::MemoryFormat::ChannelsLast);
    if (random() % 3 == 0) tensor = tensor.transpose(2, 3);
    if (random() % 3 == 0) tensor = tensor.slice(1, 0, std::max<std::int64_t>(1, sizes[1] / 2));
    const auto format =
        random() % 2 == 0 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
    const bool casts = tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kBFloat16;
    const at::ScalarType type =
        !casts ? tensor.scalar_type() : (random() % 2 == 0 ? at::kFloat : at::kBFloat16);
    const at::Tensor kept = tensor.clone();
    const at::Tensor result = change.apply(tensor, format, type);
    ASSERT_EQ(result.scalar_type(), type) << i;
    ASSERT_TRUE(result.is_contiguous(format)) << i << ": " << result.sizes();
    ASSERT_TRUE(result.equal(kept.to(type)))
        << i << ": " << tensor.sizes() << " " << tensor.strides();
    ASSERT_TRUE(tensor.equal(kept)) << i << ": the source was written to";
  }
}

TEST(LayoutChange, WhatLiesSoAlreadyIsItself) {
  LayoutChange change;
  for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    const at::Tensor tensor = at::randn({2, 3, 4, 5}).contiguous(format);
    EXPECT_TRUE(change.apply(tensor, format, at::kFloat).is_same(tensor));
  }
  // Of one channel both orders are one.
  const at::Tensor flat = at::randn({2, 1, 4, 5});
  EXPECT_EQ(change.apply(flat, at::MemoryFormat::ChannelsLast, at::kFloat).data_ptr(),
            flat.data_ptr());
}

TEST(LayoutChange, OfNothingIsNothing) {
  LayoutChange change;
  const at::Tensor none = at::empty({0, 3, 4, 5});
  EXPECT_EQ(change.apply(none, at::MemoryFormat::ChannelsLast, at::kFloat).numel(), 0);
  EXPECT_EQ(change.apply(none, at::MemoryFormat::ChannelsLast, at::kBFloat16).sizes(),
            none.sizes());
}

}  // namespace
}  // namespace pareto::runtime::kernels
