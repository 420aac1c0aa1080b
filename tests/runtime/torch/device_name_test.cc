#include "runtime/torch/device_name.h"

#include <ATen/Context.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

TEST(ParseDevice, TheProcessorIsAlwaysThere) {
  const auto device = parse_device("cpu");
  ASSERT_TRUE(device);
  EXPECT_TRUE(device->is_cpu());
}

TEST(ParseDevice, OtherNamesAreRefusedWithWhatMayBeUsed) {
  for (const char* const name : {"", " ", "CPU", "cpu ", "cpu:0", "cpu0", "gpu", "gpu:0", "Cuda:0",
                                 ":0", "meta", "mkldnn", "cpu\ncuda:0", "xpu:1"}) {
    const auto device = parse_device(name);
    ASSERT_FALSE(device) << name;
    EXPECT_EQ(device.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(device.error().message, HasSubstr("use cpu or cuda:N")) << name;
  }
}

TEST(ParseDevice, AGpuThatIsNotThereIsRefused) {
  for (const char* const name : {"cuda:99", "cuda:-1", "cuda:", "cuda:x", "cuda:1x", "cuda:01",
                                 "cudax", "cuda0", "cuda:99999999999999999999", "cuda:0:0"}) {
    const auto device = parse_device(name);
    ASSERT_FALSE(device) << name;
    EXPECT_THAT(device.error().message, HasSubstr(name));
  }
  if (at::hasCUDA()) GTEST_SKIP() << "this LibTorch has CUDA";
  const auto device = parse_device("cuda");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(device.error().message, HasSubstr("was built without CUDA"));
}

}  // namespace
}  // namespace pareto::runtime
