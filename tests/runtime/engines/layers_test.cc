// Every engine of the builtin list computes what the plain one does: each kind of layer, batches
// that were not announced, one and two threads, one input after the other.
#include "tests/runtime/engines/layers.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "core/base/thread_pool.h"
#include "runtime/torch/threads.h"

namespace pareto::runtime {
namespace {

using test::Layer;
using Values = std::vector<c10::IValue>;

/// The largest error, as a part of the largest element of what the plain engine computes. Folding,
/// fusing and Winograd's transforms order the same sums differently.
constexpr double kTolerance = 2e-5;

class Layers : public testing::TestWithParam<EngineEntry> {
 protected:
  ~Layers() override { set_thread_count(1); }

  const c10::InferenceMode inference;  ///< engines run in it

  static void expect_same(const Values& found, const Values& expected, const std::string& what) {
    ASSERT_EQ(found.size(), expected.size()) << what;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const at::Tensor& a = found[i].toTensor();
      const at::Tensor& b = expected[i].toTensor();
      ASSERT_EQ(a.sizes(), b.sizes()) << what;
      ASSERT_EQ(a.scalar_type(), b.scalar_type()) << what;
      const double largest = std::max(1e-3, b.abs().max().item<double>());
      EXPECT_LE((a - b).abs().max().item<double>() / largest, kTolerance) << what;
    }
  }

  /// Runs batches of other sizes and contents through one engine of this layer.
  static void compare(const Layer& layer) {
    const LoadedModule loaded =
        test::written_module("\ndef run(self, x):\n" + layer.code, layer.weights);
    const auto plain = build_engine("plain", loaded);
    for (const int threads : {1, 2}) {
      set_thread_count(threads);
      ThreadPool pool(threads);
      const PoolScope scope(&pool);
      const auto engine = GetParam().build(loaded);
      for (const std::int64_t batch : {1, 2, 5, 1}) {
        std::vector<std::int64_t> sizes = layer.in;
        sizes.insert(sizes.begin(), batch);
        const at::Tensor x = at::randn(sizes);
        const at::Tensor kept = x.clone();
        const Values expected = plain->run({x.clone()}, nullptr);
        expect_same(engine->run({x}, nullptr), expected,
                    fmt::format("{}\nbatch {}, {} threads", layer.code, batch, threads));
        EXPECT_TRUE(x.equal(kept)) << layer.code << "wrote to its argument";
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Every, Layers, testing::ValuesIn(builtin_engines()),
                         [](const auto& each) { return each.param.name; });

TEST_P(Layers, ConvolutionsAreThePlainOnes) {
  at::manual_seed(31);
  for (const Layer& layer : test::convolution_layers()) compare(layer);
}

TEST_P(Layers, PoolingsAreThePlainOnes) {
  at::manual_seed(32);
  for (const Layer& layer : test::pooling_layers()) compare(layer);
}

TEST_P(Layers, OthersAreThePlainOnes) {
  at::manual_seed(33);
  for (const Layer& layer : test::other_layers()) compare(layer);
}

}  // namespace
}  // namespace pareto::runtime
