// Blocked layouts of oneDNN: what LibTorch's operators get wrong in them is computed outside.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/runtime/engines/written_module.h"

namespace pareto::runtime {
namespace {

using test::written_module;
using Results = std::vector<c10::IValue>;

/// Checks that oneDNN gives what the plain engine does, of a convolution to that many channels
/// and those lines behind it.
void expect_as_plain(const std::string& lines, std::int64_t channels, std::int64_t batch = 2) {
  const c10::InferenceMode inference;  // engines run in it
  const auto loaded = written_module(
      "def run(self, x):\n    y = torch.conv2d(x, self.w, self.b, [1, 1], [1, 1])\n" + lines,
      {{"w", at::randn({channels, 3, 3, 3}) * 0.5}, {"b", at::randn({channels})}});
  const at::Tensor x = at::randn({batch, 3, 9, 7});
  const Results expected = build_engine("plain", loaded)->run({x}, nullptr);
  const auto engine = build_engine("onednn", loaded);
  for (int turn = 0; turn < 2; ++turn) {
    const Results found = engine->run({x}, nullptr);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const at::Tensor tensor = found[i].toTensor();
      EXPECT_FALSE(tensor.is_mkldnn()) << "results are everybody's";
      ASSERT_EQ(tensor.sizes(), expected[i].toTensor().sizes()) << lines;
      EXPECT_TRUE(tensor.allclose(expected[i].toTensor(), 1e-3, 1e-4))
          << channels << " channels, result " << i << ":\n"
          << lines;
    }
  }
}

TEST(OneDnn, ActivationsAreRightForAnyNumberOfChannels) {
  at::manual_seed(2);
  for (const std::int64_t channels : {1, 8, 15, 16, 17}) {
    for (const char* const activation :
         {"torch.hardswish(y)", "torch.hardsigmoid(y)", "torch.relu(y)",
          "torch.hardtanh(y, -0.5, 0.3)", "torch.clamp(y, -0.25, 0.75)",
          "torch.hardtanh(y, 0.0, 6.0)", "torch.sigmoid(y)"}) {
      expect_as_plain("    z = " + std::string(activation) +
                          "\n    return (torch.conv2d(z, self.w[:2, :1].expand([2, " +
                          std::to_string(channels) + ", 3, 3])), z)\n",
                      channels);
    }
  }
}

TEST(OneDnn, PoolsThatItDoesNotKnowAreRight) {
  for (const char* const pool :
       {"torch.max_pool2d(y, [3, 3], [1, 1], [1, 1], [2, 2])",
        "torch.max_pool2d(y, [2, 2], [2, 2], [0, 0], [1, 1], True)",
        "torch.avg_pool2d(y, [2, 2], [2, 2], [0, 0], False, True, 3)",
        "torch.avg_pool2d(y, [3, 2], [1, 2], [1, 0], True, False)",
        "torch.adaptive_avg_pool2d(y, [4, 3])", "torch.adaptive_avg_pool2d(y, [1, 1])",
        "torch.adaptive_avg_pool2d(torch.relu(y), [2, 5])"}) {
    for (const std::int64_t channels : {5, 16}) {
      expect_as_plain("    return (" + std::string(pool) + ",)\n", channels);
    }
  }
}

TEST(OneDnn, LayersInARowAtRandomAreRight) {
  std::mt19937 random(7);
  for (int round = 0; round < 25; ++round) {
    std::string lines;
    for (int i = 0; i < 5; ++i) {
      switch (random() % 6) {
        case 0:
          lines += "    y = torch.hardswish(y)\n";
          break;
        case 1:
          lines += "    y = torch.max_pool2d(y, [2, 2], [1, 1], [1, 1])\n";
          break;
        case 2:
          lines += "    y = y + y * 0.5\n";
          break;
        case 3:
          lines += "    y = torch.relu(y)\n";
          break;
        case 4:
          lines += "    y = torch.cat([y, y], 1)[:, 1:]\n";
          break;
        default:
          lines += "    y = torch.clamp(y, -1.0, 2.0)\n";
      }
    }
    expect_as_plain(lines + "    return (y, y.mean([2, 3]))\n",
                    static_cast<std::int64_t>(1 + random() % 20));
  }
}

TEST(OneDnn, IsForFloat32OnTheProcessor) {
  auto loaded = written_module("def run(self, x):\n    return (torch.conv2d(x, self.w),)\n",
                               {{"w", at::randn({4, 3, 1, 1})}});
  EXPECT_NO_THROW(prepare_onednn(loaded));
  loaded.precision = Precision::kBFloat16;
  EXPECT_THROW(prepare_onednn(loaded), std::runtime_error);
  loaded.precision = Precision::kFloat32;
  loaded.device = c10::Device("cuda:0");
  EXPECT_THROW(prepare_onednn(loaded), std::runtime_error);
}

}  // namespace
}  // namespace pareto::runtime
