// Layouts of views that nobody chose: a dense copy, sent across a cut, lies there as the view did.
#include "partitioner/model/graph/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "runtime/torch/compat.h"

namespace pareto::model {
namespace {

/// Slices, transposes and repeats a tensor at random.
at::Tensor random_view(std::mt19937_64& random) {
  std::vector<std::int64_t> sizes;
  for (std::uint64_t d = 1 + random() % 4; d > 0; --d) {
    sizes.push_back(1 + static_cast<std::int64_t>(random() % 5));
  }
  at::Tensor tensor = at::randn(sizes);
  for (std::uint64_t step = random() % 4; step > 0; --step) {
    const auto dim = static_cast<std::int64_t>(random() % sizes.size());
    const std::int64_t size = tensor.size(dim);
    switch (random() % 4) {
      case 0:
        tensor = tensor.transpose(dim, static_cast<std::int64_t>(random() % sizes.size()));
        break;
      case 1:
        tensor = tensor.slice(dim, 0, std::max<std::int64_t>(1, size - 1));
        break;
      case 2:
        tensor = tensor.slice(dim, 0, size, 2);
        break;
      default:
        if (size > 1) break;
        std::vector<std::int64_t> wider = tensor.sizes().vec();
        wider[static_cast<std::size_t>(dim)] = 3;
        tensor = tensor.expand(wider);
    }
  }
  return tensor;
}

/// Makes what crosses: dense, its dimensions in the order of memory.
at::Tensor sent(const at::Tensor& tensor, const MemoryLayout& layout) {
  return (layout.order.empty() ? tensor : tensor.permute(layout.order)).contiguous();
}

at::Tensor restored(const at::Tensor& dense, const MemoryLayout& layout, std::int64_t& operators) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::Value* const input = graph->addInput();
  graph->registerOutput(restore_layout(*graph, input, layout, operators));
  torch::jit::Stack stack{dense};
  torch::jit::InterpreterState(torch::jit::Code(graph, "restore")).run(stack);
  return stack.back().toTensor();
}

/// Returns whether each stride is a multiple of the next smaller one, as a layout has them.
bool has_whole_places(const at::Tensor& tensor) {
  std::vector<std::int64_t> strides;
  for (std::int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (tensor.size(dim) > 1 && tensor.stride(dim) > 0) strides.push_back(tensor.stride(dim));
  }
  std::ranges::sort(strides);
  for (std::size_t i = 1; i < strides.size(); ++i) {
    if (strides[i] % strides[i - 1] != 0) return false;
  }
  return true;
}

TEST(Layout, OfAViewIsRestoredBehindACut) {
  std::mt19937_64 random(1);
  int views = 0;
  for (int i = 0; i < 2000; ++i) {
    const at::Tensor tensor = random_view(random);
    const MemoryLayout layout = layout_of(tensor);
    std::int64_t operators = 0;
    const at::Tensor found = restored(sent(tensor, layout), layout, operators);
    ASSERT_TRUE(found.equal(tensor)) << i << ": " << tensor.sizes() << tensor.strides();
    if (!has_whole_places(tensor)) continue;
    // Later operators see the same strides, but for those of dimensions that have none to speak of.
    for (std::int64_t dim = 0; dim < tensor.dim(); ++dim) {
      if (tensor.size(dim) == 1) continue;
      ASSERT_EQ(found.stride(dim), tensor.stride(dim))
          << i << ": " << tensor.sizes() << tensor.strides() << found.strides();
    }
    views += operators > 0 ? 1 : 0;
  }
  EXPECT_GT(views, 500);
}

TEST(Layout, OfDenseTensorsIsTrivial) {
  const MemoryLayout trivial;
  EXPECT_EQ(layout_of(at::randn({2, 3})), trivial);
  EXPECT_EQ(layout_of(at::randn({})), trivial);
  EXPECT_EQ(layout_of(at::empty({0, 3}).t()), trivial);
  EXPECT_EQ(layout_of(std::int64_t{3}), trivial);
  EXPECT_EQ(layout_of(at::Tensor()), trivial);
  EXPECT_EQ(layout_of(at::randn({3, 3}).to_sparse()), trivial);
  std::int64_t operators = 0;
  const at::Tensor dense = at::randn({2, 3});
  EXPECT_TRUE(restored(dense, trivial, operators).is_same(dense));
  EXPECT_EQ(operators, 0);
}

TEST(Layout, ContainersAreLookedInto) {
  const at::Tensor dense = at::randn({2, 3});
  EXPECT_FALSE(holds_views(dense.t())) << "a tensor itself has a layout of its own";
  EXPECT_FALSE(holds_views(c10::List<at::Tensor>({dense, dense})));
  EXPECT_TRUE(holds_views(c10::List<at::Tensor>({dense, dense.t()})));
  EXPECT_TRUE(holds_views(c10::ivalue::Tuple::create({1, c10::List<at::Tensor>({dense.t()})})));
}

TEST(Layout, OfTwoRunsIsWhatBothHave) {
  const auto of = [](std::int64_t batch, std::int64_t width) {
    return layout_of(at::randn({batch, 3, width}).slice(2, 0, 4).transpose(0, 1));
  };
  EXPECT_EQ(join_layouts(of(2, 6), of(3, 6)), of(2, 6));
  // Where the rest of the larger tensor grows with the batch, only the order is known.
  const MemoryLayout joined = join_layouts(of(2, 6), of(3, 7));
  EXPECT_EQ(joined.order, of(2, 6).order);
  EXPECT_TRUE(joined.gaps.empty());
  EXPECT_EQ(join_layouts(of(2, 6), layout_of(at::randn({2, 3}))), MemoryLayout{});
}

}  // namespace
}  // namespace pareto::model
