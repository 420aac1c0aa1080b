// Shards that want more than to compute: both walls refuse them, each by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <filesystem>

#include "runtime/graph_check.h"
#include "tests/runtime/strange_shard.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

struct HostileCode {
  const char* code;
  const char* operator_name;
};

const std::vector<HostileCode>& hostile_codes() {
  static const std::vector<HostileCode> kCodes = {
      {R"(
def run(self, x):
    return (torch.from_file("/etc/passwd", False, 16, dtype=0), x)
)",
       "aten::from_file"},
      {R"(
def run(self, x):
    torch.save(x, "hostile_code_test.written")
    return (x,)
)",
       "aten::save"},
      {R"(
def run(self, x):
    f = torch.save
    f(x, "hostile_code_test.written")
    return (x,)
)",
       "save"},
      {R"(
def run(self, x):
    print(x)
    return (x,)
)",
       ""},
      {R"(
def run(self, x):
    x.resize_([1000000])
    return (x,)
)",
       "aten::resize_"},
      {R"(
def run(self, x):
    x.set_(x)
    return (x,)
)",
       "aten::set_"},
      {R"(
def run(self, x):
    torch.manual_seed(3)
    return (x,)
)",
       "aten::manual_seed"},
      {R"(
def run(self, x):
    return (torch._reshape_alias(x, [1000], [1]),)
)",
       "aten::_reshape_alias"},
      {R"(
def run(self, x):
    return (torch.native_channel_shuffle(x.reshape([1, 4, 1, 1]), 0),)
)",
       "aten::native_channel_shuffle"},
      {R"(
def run(self, x):
    return (torch.searchsorted(x, x, sorter=torch.full([1, 4], 1000000000000, dtype=4)),)
)",
       "aten::searchsorted"},
      {R"(
def run(self, x):
    return (torch.rrelu_with_noise(torch.neg(torch.ones([100000])), x, 7.0, 7.0, True),)
)",
       "aten::rrelu_with_noise"},
      {R"(
def run(self, x):
    return (torch.slow_conv_transpose2d(x.reshape([1, 1, 2, 2]), x.reshape([1, 1, 2, 2]), [1, 1]),)
)",
       "aten::slow_conv_transpose2d"},
  };
  return kCodes;
}

TEST(HostileCode, IsRefusedByTheOperatorsNameBeforeItRuns) {
  for (const HostileCode& hostile : hostile_codes()) {
    const auto runner = test::load(test::shard_of(hostile.code));
    ASSERT_FALSE(runner) << hostile.code;
    EXPECT_EQ(runner.error().code, ErrorCode::kPermission) << runner.error().message;
    EXPECT_THAT(runner.error().message, HasSubstr(hostile.operator_name)) << hostile.code;
    EXPECT_THAT(runner.error().message, HasSubstr("of its code: ")) << hostile.code;
  }
  EXPECT_FALSE(std::filesystem::exists("hostile_code_test.written"));
}

TEST(HostileCode, IsRefusedByItsGraphToo) {
  for (const HostileCode& hostile : hostile_codes()) {
    torch::jit::Module module("__torch__.Shard");
    module.define(hostile.code);
    const auto checked = check_graphs(module);
    ASSERT_FALSE(checked) << hostile.code;
    EXPECT_EQ(checked.error().code, ErrorCode::kPermission);
    EXPECT_THAT(checked.error().message, HasSubstr(hostile.operator_name)) << hostile.code;
  }
}

TEST(HostileCode, ResultsAreNotWrittenIntoGivenTensors) {
  const auto runner = test::load(test::shard_of(
      "\ndef run(self, x):\n    torch.add(x, torch.ones([1000, 4]), out=x)\n    return (x,)\n"));
  ASSERT_FALSE(runner);
  EXPECT_EQ(runner.error().code, ErrorCode::kPermission);
  EXPECT_THAT(runner.error().message, HasSubstr("no shard may use aten::add with a tensor for"));
}

TEST(HostileCode, CallsAndBlocksAreLookedInto) {
  for (const char* const code : {R"(
def part(self, x):
    torch.save(x, "f")
    return x
def run(self, x):
    return (self.part(x),)
)",
                                 R"(
def run(self, x):
    for i in range(3):
        if bool(x.sum() > 3):
            torch.save(x, "f")
    return (x,)
)"}) {
    torch::jit::Module module("__torch__.Shard");
    module.define(code);
    EXPECT_FALSE(check_graphs(module)) << code;
  }
}

/// Returns what comes of running code that has n = 0 and m = -9223372036854775807 - 1.
std::string error_of(const std::string& expression) {
  const auto runner = test::load(test::shard_of(
      "\ndef run(self, x):\n    n = int(x.sum()) * 0\n    m = -9223372036854775807 - 1 + n\n"
      "    f = [1.0, float(\"nan\")]\n    y = " +
      expression + "\n    return (x + y,)\n"));
  if (!runner) return runner.error().message;
  const auto outputs = (*runner)->run(test::ones());
  return outputs ? "" : outputs.error().message;
}

TEST(HostileCode, NumbersThatTheProcessorRefusesFailTheRequest) {
  EXPECT_EQ(error_of("7 % (n + 2)"), "");
  EXPECT_THAT(error_of("1 % n"), HasSubstr("divided by 0"));
  EXPECT_THAT(error_of("1 // n"), HasSubstr("divided by 0"));
  EXPECT_THAT(error_of("divmod(1, n)[0]"), HasSubstr("divided by 0"));
  EXPECT_THAT(error_of("m % (n - 1)"), HasSubstr("divided by -1"));
  EXPECT_THAT(error_of("m // (n - 1)"), HasSubstr("divided by -1"));
  EXPECT_THAT(error_of("divmod(m, n - 1)[0]"), HasSubstr("divided by -1"));
  // Constants are folded while the code is loaded.
  EXPECT_THAT(error_of("1 % 0"), HasSubstr("divided by 0"));
  EXPECT_THAT(error_of("(-9223372036854775807 - 1) // -1"), HasSubstr("divided by -1"));
}

TEST(HostileCode, TensorsThatTheProcessorRefusesFailTheRequest) {
  const std::string least = "torch.full([2], m)";
  EXPECT_EQ(error_of("(" + least + " // torch.full([2], n - 2)).sum()"), "");
  EXPECT_THAT(error_of(least + " // torch.full([2], n - 1)"), HasSubstr("divided by -1"));
  EXPECT_THAT(error_of(least + " % (n - 1)"), HasSubstr("divided by -1"));
  EXPECT_THAT(error_of("torch.fmod(" + least + ", n - 1)"), HasSubstr("divided by -1"));
  EXPECT_THAT(error_of("torch.div(" + least + ", n - 1, rounding_mode=\"trunc\")"),
              HasSubstr("divided by -1"));
  const std::string short_least = "torch.full([2], -2147483648 + n, dtype=3)";
  EXPECT_THAT(error_of(short_least + " // (n - 1)"), HasSubstr("divided by -1"));
  EXPECT_THAT(error_of("torch.remainder(m, torch.full([2], n - 1))"), HasSubstr("divided by -1"));
  // A tensor without dimensions takes the type of the other one.
  EXPECT_THAT(error_of("torch.floor_divide(torch.full([], -2147483648 + n), "
                       "torch.full([2], n - 1, dtype=3))"),
              HasSubstr("divided by -1"));
  EXPECT_THAT(error_of(short_least + " // torch.full([], n + 4294967295)"),
              HasSubstr("divided by -1"));
}

TEST(HostileCode, ListsThatAreTooShortFailTheRequest) {
  EXPECT_EQ(error_of("torch.reflection_pad1d(torch.ones([1, 4]), [1, n + 1]).sum()"), "");
  EXPECT_THAT(error_of("torch.reflection_pad1d(torch.ones([1, 4]), [n])"),
              HasSubstr("padding has 1 number, not 2"));
  EXPECT_THAT(error_of("torch.reflection_pad2d(torch.ones([1, 4, 4]), [1, n])"),
              HasSubstr("padding has 2 numbers, not 4"));
  EXPECT_THAT(error_of("torch.max_pool1d(torch.ones([1, 4]), [2], [2], [0, n])"),
              HasSubstr("padding has 2 numbers, not 1"));
  EXPECT_THAT(error_of("torch.max_unpool2d(torch.ones([1, 2, 2]), torch.zeros([1, 2, 2], dtype=4), "
                       "[n])"),
              HasSubstr("output_size has 1 number, not 2"));
}

TEST(HostileCode, RowsWithoutElementsMakeNoList) {
  EXPECT_EQ(error_of("torch._tensor_to_list(torch.full([3], n, dtype=3))[0]"), "");
  for (const char* const sizes : {"[3, 0]", "[2, 2]", "[]"}) {
    EXPECT_THAT(
        error_of("torch._tensor_to_list(torch.full(" + std::string(sizes) + ", n, dtype=3))[0]"),
        HasSubstr("_tensor_to_list: it takes one row of numbers"))
        << sizes;
  }
}

TEST(HostileCode, ListsWithoutAnOrderAreNotSorted) {
  EXPECT_EQ(error_of("sorted([3.0, 1.0 + n])[0]"), "");
  EXPECT_EQ(error_of("sorted([3, n])[0]"), "");
  EXPECT_THAT(error_of("sorted([f[1], 1.0 + n])[0]"), HasSubstr("NaN is sorted"));
  EXPECT_THAT(error_of("sorted([x, x])[0]"), HasSubstr("without an order"));
}

TEST(HostileCode, ContainersThatCouldHoldThemselvesAreRefused) {
  torch::jit::Module module("__torch__.Shard");
  module.define(R"(
def run(self, x):
    nested : List[Any] = []
    for i in range(1000000):
        inner : List[Any] = [nested]
        nested = inner
    return (x,)
)");
  const auto checked = check_graphs(module);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("value of the type"));
}

TEST(HostileCode, AttributesThatCouldGrowAreRefused) {
  torch::jit::Module module("__torch__.Shard");
  c10::List<std::int64_t> list;
  module.register_attribute("kept", c10::ListType::ofInts(), list);
  module.define(R"(
def run(self, x):
    self.kept.append(1)
    return (x,)
)");
  const auto checked = check_graphs(module);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("attribute kept of the type int[]"));
}

}  // namespace
}  // namespace pareto::runtime
