#include "runtime/torch/tensor_bounds.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "runtime/torch/compat.h"
#include "tests/runtime/torch/module_of.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;
using Sizes = std::vector<std::int64_t>;

/// Returns a tensor of ten floats' memory that says what it likes of itself.
at::Tensor claims(const Sizes& sizes, const Sizes& strides, std::int64_t offset = 0) {
  const at::Tensor tensor = at::zeros({10});
  auto* const made = tensor.unsafeGetTensorImpl();
  made->set_sizes_and_strides(sizes, strides);
  made->set_storage_offset(offset);
  return tensor;
}

Expected<> check_attribute(const c10::IValue& value) {
  torch::jit::Module module = module_of("def run(self, x):\n    return x\n");
  module.register_attribute("held", value.type(), value);
  return check_tensor_bounds(module);
}

TEST(TensorBounds, WhatLiesWithinItsMemoryPasses) {
  for (const at::Tensor& tensor :
       {at::zeros({10}), at::zeros({}), at::zeros({0}), at::zeros({3, 0, 5}),
        claims({2, 5}, {5, 1}), claims({10}, {1}), claims({1}, {100}, 9), claims({4, 4}, {0, 0}, 9),
        claims({3}, {4}, 1), claims({0}, {1}, 1000), claims({5, 0}, {1000, 1000}),
        at::ones({2, 2}, at::kDouble), at::ones({3}, at::kBool)}) {
    EXPECT_TRUE(check_attribute(tensor)) << tensor.sizes() << tensor.strides();
  }
}

TEST(TensorBounds, WhatDoesNotIsRefused) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::tuple<Sizes, Sizes, std::int64_t>> wrong{
      {{11}, {1}, 0},
      {{10}, {1}, 1},
      {{1}, {1}, 10},
      {{}, {}, 10},
      {{2, 5}, {6, 1}, 0},
      {{3}, {5}, 0},
      {{kMost}, {1}, 0},
      {{2}, {kMost}, 0},
      {{kMost / 2, 2}, {0, kMost}, 0},
      {{2, 2}, {kMost, kMost}, 0},
      {{1}, {1}, kMost},
      {{3, 3}, {kMost / 2, kMost / 2}, kMost / 2}};
  for (const auto& [sizes, strides, offset] : wrong) {
    const auto checked = check_attribute(claims(sizes, strides, offset));
    ASSERT_FALSE(checked) << at::IntArrayRef(sizes) << at::IntArrayRef(strides) << offset;
    EXPECT_EQ(checked.error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(checked.error().message, "the attribute held is larger than its bytes");
  }
}

TEST(TensorBounds, IsRandomlyWhatGoingThroughAllElementsSays) {
  std::mt19937 random(95);
  int outside = 0;
  for (int round = 0; round < 500; ++round) {
    Sizes sizes(random() % 4);
    Sizes strides(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      sizes[i] = static_cast<std::int64_t>(random() % 4);
      strides[i] = static_cast<std::int64_t>(random() % 5);
    }
    const auto offset = static_cast<std::int64_t>(random() % 8);
    std::vector<std::int64_t> places{offset};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::vector<std::int64_t> next;
      for (const std::int64_t place : places) {
        for (std::int64_t k = 0; k < sizes[i]; ++k) next.push_back(place + k * strides[i]);
      }
      places = std::move(next);
    }
    const bool within = std::ranges::all_of(places, [](std::int64_t place) { return place < 10; });
    EXPECT_EQ(check_attribute(claims(sizes, strides, offset)).has_value(), within)
        << at::IntArrayRef(sizes) << at::IntArrayRef(strides) << offset;
    outside += within ? 0 : 1;
  }
  EXPECT_GT(outside, 50);
}

TEST(TensorBounds, ListsTuplesAndDictsAreLookedInto) {
  const at::Tensor wrong = claims({11}, {1});
  const at::Tensor good = at::ones({1});
  c10::impl::GenericDict dict(c10::StringType::get(), c10::TensorType::get());
  dict.insert("a", good);
  EXPECT_TRUE(check_attribute(dict));
  dict.insert("b", wrong);
  EXPECT_FALSE(check_attribute(dict));
  EXPECT_TRUE(check_attribute(c10::List<at::Tensor>({good, good})));
  EXPECT_FALSE(check_attribute(c10::List<at::Tensor>({good, wrong})));
  EXPECT_FALSE(check_attribute(c10::ivalue::Tuple::create({good, c10::List<at::Tensor>({wrong})})));
  EXPECT_TRUE(check_attribute(std::int64_t{5}));
  EXPECT_TRUE(check_attribute("text"));
}

TEST(TensorBounds, PartsOfAModuleAreNamedByTheirPath) {
  torch::jit::Module module = module_of("def run(self, x):\n    return x\n");
  torch::jit::Module part("__torch__.Part", module._ivalue()->compilation_unit());
  part.register_parameter("w", claims({11}, {1}), false);
  module.register_module("features", part);
  const auto checked = check_tensor_bounds(module);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("the attribute features.w is larger"));
}

TEST(TensorBounds, ConstantsOfCodeAreChecked) {
  for (const bool fits : {true, false}) {
    const torch::jit::Module module = module_of("def run(self, x):\n    return x\n");
    const auto graph = module.get_method("run").graph();
    const torch::jit::WithInsertPoint end(graph->block()->return_node());
    graph->insertConstant(fits ? at::ones({2}) : claims({11}, {1}));
    const auto checked = check_tensor_bounds(module);
    EXPECT_EQ(checked.has_value(), fits);
    if (!fits) {
      EXPECT_EQ(checked.error().message, "a constant of its code is larger than its bytes");
    }
  }
}

}  // namespace
}  // namespace pareto::runtime
