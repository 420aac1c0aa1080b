#include "runtime/kernels/packed_concatenation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <random>

#include "core/base/thread_pool.h"

namespace pareto::runtime::kernels {
namespace {

TEST(Concatenation, IsLibTorchs) {
  std::mt19937_64 random(1);
  at::manual_seed(1);
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    const PoolScope scope(&pool);
    for (int i = 0; i < 60; ++i) {
      const auto side = [&] { return static_cast<std::int64_t>(1 + random() % 30); };
      std::vector<std::int64_t> sizes{1 + side() / 10, 0, side(), side()};
      std::vector<at::Tensor> pictures;
      for (std::uint64_t count = 1 + random() % 5; count > 0; --count) {
        sizes[1] = side();
        at::Tensor picture = at::randn(sizes);
        // Now and then one that lies otherwise, or is of another type.
        if (random() % 16 != 0) picture = picture.contiguous(at::MemoryFormat::ChannelsLast);
        if (random() % 16 == 0) picture = picture.to(at::kBFloat16);
        pictures.push_back(picture);
      }
      const at::Tensor result = concatenate(pictures);
      const at::Tensor expected = at::cat(pictures, 1);
      ASSERT_EQ(result.scalar_type(), expected.scalar_type());
      EXPECT_TRUE(result.equal(expected)) << i << " on " << threads << ": " << expected.sizes();
    }
  }
}

TEST(Concatenation, OfWhatDoesNotFitTogetherIsRefused) {
  EXPECT_ANY_THROW(concatenate({at::ones({1, 2, 3, 3}), at::ones({1, 2, 3, 4})}));
  EXPECT_ANY_THROW(concatenate({at::ones({1, 2, 3, 3}), at::ones({2})}));
  EXPECT_EQ(concatenate({at::ones({2, 3}), at::ones({2, 4})}).size(1), 7);
}

}  // namespace
}  // namespace pareto::runtime::kernels
