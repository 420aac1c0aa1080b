#include "runtime/torch/checked_pictures.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/torch/thrown_by.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

TEST(CheckedPictures, PicturesHaveTheDimensionsOfOne) {
  const auto bytes = [](const std::vector<std::int64_t>& sizes) {
    return at::quantize_per_tensor(at::rand(sizes), 0.1, 3, at::kQUInt8);
  };
  const auto pool = [](const at::Tensor& x) {
    return thrown_by_layer("x", "torch.avg_pool2d(x, [3, 3], [1, 1], [1, 1])", {x});
  };
  EXPECT_EQ(pool(bytes({3, 5, 5})), "nothing");
  EXPECT_EQ(pool(bytes({2, 3, 5, 5})), "nothing");
  EXPECT_THAT(pool(bytes({6, 0, 2, 8, 3})), HasSubstr("has 5 dimensions, not 3 or 4"));
  EXPECT_THAT(pool(bytes({5})), HasSubstr("has 1 dimension, not 3 or 4"));
  EXPECT_THAT(thrown_by_layer("x", "torch.adaptive_avg_pool3d(x, [1, 1, 1])", {bytes({2, 3})}),
              HasSubstr("has 2 dimensions, not 4 or 5"));
  // A kernel of LibTorch 2.6 takes the last two for it.
  EXPECT_THAT(thrown_by_layer("x", "torch.replication_pad1d(x, [0, 0])", {at::rand({4, 1, 3, 4})}),
              HasSubstr("has 4 dimensions, not 2 or 3"));
}

TEST(CheckedPictures, PicturesAreNotLargerThanTheirScalesMakeThem) {
  const auto line = [](std::int64_t size, const char* scale) {
    return thrown_by_layer("x, n: int",
                           "torch.upsample_linear1d(x, [n], False, " + std::string(scale) + ")",
                           {at::rand({2, 3, 8}), size});
  };
  EXPECT_EQ(line(16, "2.0"), "nothing");
  EXPECT_EQ(line(16, "2.1"), "nothing");
  EXPECT_EQ(line(300, "None"), "nothing");
  EXPECT_THAT(line(17, "2.0"), HasSubstr("8 times 2 is less than 17"));
  EXPECT_THAT(thrown_by_layer("x", "torch._upsample_bicubic2d_aa(x, [8, 300], False, 1.0, 2.0)",
                              {at::rand({2, 3, 8, 8})}),
              HasSubstr("8 times 2 is less than 300"));
  const at::Tensor bytes = at::zeros({1, 1, 8}, at::kByte);
  EXPECT_EQ(thrown_by_layer("x", "torch.upsample_nearest1d(x, [16], 2.0)", {bytes}), "nothing");
  for (const char* const nearest : {"upsample_nearest1d", "_upsample_nearest_exact1d"}) {
    EXPECT_THAT(thrown_by_layer("x", fmt::format("torch.{}(x, [8], 1e-30)", nearest), {bytes}),
                HasSubstr("is less than 8"));
  }
}

TEST(CheckedPictures, ThereIsAScaleForEachDimensionOfAPicture) {
  const auto resized = [](const std::vector<double>& scales) {
    return thrown_by_operator("aten::__interpolate",
                              {at::rand({1, 1, 4, 4}), c10::IValue(), scales, "nearest",
                               c10::IValue(), c10::IValue(), false},
                              "scale_list");
  };
  EXPECT_EQ(resized({2, 2}), "nothing");
  EXPECT_THAT(resized({2}), HasSubstr("it has 1 scale for 2 dimensions"));
  EXPECT_THAT(resized({}), HasSubstr("it has 0 scales for 2 dimensions"));
}

}  // namespace
}  // namespace pareto::runtime
