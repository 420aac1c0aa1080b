#include "runtime/torch/shard_boundary.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/torch/compat.h"
#include "runtime/torch/convert.h"
#include "runtime/torch/ready_marks.h"
#include "runtime/torch/tensor_bounds.h"
#include "tests/runtime/torch/module_of.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

Value value_of(const at::Tensor& tensor) { return from_torch(tensor).value(); }

/// A boundary of that code whose inputs and outputs look like these.
ShardBoundary boundary(const std::string& code, const std::vector<Value>& inputs,
                       const std::vector<Value>& outputs = {}) {
  plan::Shard shard;
  for (const Value& value : inputs) shard.inputs.push_back({"in", spec_of(value)});
  for (const Value& value : outputs) shard.outputs.push_back({"out", spec_of(value)});
  return {module_of(code), shard, c10::kCPU};
}

constexpr const char* kSum = "\ndef run(self, x, n: int):\n    return (x + n,)\n";

TEST(ShardBoundary, ArgumentsShareTheBytesOfTheirValues) {
  const at::Tensor x = at::randn({2, 3});
  const ShardBoundary sum = boundary(kSum, {value_of(x), Value(std::int64_t{1})});
  const auto arguments = sum.to_arguments({value_of(x), Value(std::int64_t{5})});
  ASSERT_TRUE(arguments) << arguments.error().message;
  EXPECT_EQ(arguments->at(0).toTensor().data_ptr(), x.data_ptr());
  EXPECT_EQ(arguments->at(1).toInt(), 5);
}

TEST(ShardBoundary, WhatIsWrittenIsACopy) {
  const at::Tensor x = at::randn({2, 3});
  const ShardBoundary writes = boundary(
      "\ndef run(self, x, y):\n    x.add_(1)\n    return (x + y,)\n", {value_of(x), value_of(x)});
  const auto arguments = writes.to_arguments({value_of(x), value_of(x)});
  ASSERT_TRUE(arguments);
  EXPECT_NE(arguments->at(0).toTensor().data_ptr(), x.data_ptr());
  // The graph may write to one that is given twice: the other must not change with it.
  EXPECT_NE(arguments->at(1).toTensor().data_ptr(), arguments->at(0).toTensor().data_ptr());
  // What lies in a container may be what is written.
  const ShardBoundary list =
      boundary("\ndef run(self, x: List[Tensor]):\n    x[0].add_(1)\n    return (x[0],)\n",
               {Value(List{{value_of(x)}})});
  const auto in_list = list.to_arguments({Value(List{{value_of(x)}})});
  ASSERT_TRUE(in_list) << in_list.error().message;
  EXPECT_NE(in_list->at(0).toTensorVector()[0].data_ptr(), x.data_ptr());
}

TEST(ShardBoundary, WhatALayerMayHandOnAndIsWrittenIsACopy) {
  const at::Tensor x = at::randn({2, 3});
  for (const char* const expression :
       {"torch.dropout(x, 0.5, False).fill_(7)",
        "torch.add(torch.batch_norm(torch.ones([2, 2, 3]), None, None, x[0][0:2], x[1][0:2], True, "
        "0.1, 1e-5, False), 1)"}) {
    const ShardBoundary writes = boundary(
        "\ndef run(self, x):\n    return (" + std::string(expression) + ",)\n", {value_of(x)});
    const auto arguments = writes.to_arguments({value_of(x)});
    ASSERT_TRUE(arguments);
    EXPECT_NE(arguments->at(0).toTensor().data_ptr(), x.data_ptr()) << expression;
  }
}

TEST(ShardBoundary, OtherValuesThanTheShardTakesAreNamed) {
  const Value x = value_of(at::randn({2, 3}));
  const Value n(std::int64_t{1});
  const ShardBoundary sum = boundary(kSum, {x, n});
  const auto problem = [&](const std::vector<Value>& values) {
    const auto arguments = sum.to_arguments(values);
    EXPECT_FALSE(arguments);
    if (arguments) return std::string();
    EXPECT_EQ(arguments.error().code, ErrorCode::kInvalidArgument);
    return arguments.error().message;
  };
  EXPECT_EQ(problem({x}), "1 values given, the shard takes 2");
  EXPECT_EQ(problem({x, n, n}), "3 values given, the shard takes 2");
  EXPECT_THAT(problem({value_of(at::randn({2, 3}).to(at::kDouble)), n}), HasSubstr("input in is "));
  EXPECT_THAT(problem({value_of(at::randn({6})), n}), HasSubstr("the shard takes"));
  EXPECT_THAT(problem({n, n}), HasSubstr("input in: "));
  EXPECT_THAT(problem({x, Value(1.5)}), HasSubstr("input in: "));
  EXPECT_THAT(problem({x, Value(None{})}), HasSubstr("input in: "));
  // Other sizes are the graph's affair.
  EXPECT_TRUE(sum.to_arguments({value_of(at::randn({7, 1})), n}));
}

TEST(ShardBoundary, ExamplesAreThoseOfTheirSeed) {
  const ShardBoundary sum = boundary(kSum, {value_of(at::randn({2, 3})), Value(std::int64_t{4})});
  const auto one = sum.example_values(1, 7);
  const auto same = sum.example_values(1, 7);
  const auto other = sum.example_values(1, 8);
  ASSERT_TRUE(one && same && other);
  EXPECT_TRUE(bit_equal(Tuple{*one}, Tuple{*same}));
  EXPECT_FALSE(bit_equal(Tuple{*one}, Tuple{*other}));
  EXPECT_TRUE(sum.to_arguments(*one));
}

TEST(ShardBoundary, ResultsComeInTheTypesOfTheManifest) {
  const at::Tensor x = at::ones({2});
  const at::Tensor half = x.to(at::kBFloat16);
  const ShardBoundary sum =
      boundary(kSum, {value_of(x), Value(std::int64_t{1})}, {value_of(x), value_of(half)});
  const auto values = sum.to_values({half, half});
  ASSERT_TRUE(values) << values.error().message;
  EXPECT_EQ(values->at(0).get_if<Tensor>()->dtype(), DType::kFloat32) << "computed in bf16";
  EXPECT_EQ(values->at(1).get_if<Tensor>()->dtype(), DType::kBFloat16) << "the model's own";
  EXPECT_FALSE(sum.to_values({c10::Device(c10::kCPU)}));
}

/// Which results were ready, in their order, and what the graph returned.
std::vector<std::size_t> ready_in(const std::string& code) {
  const auto module = module_of(code);
  const auto graph = module.get_method("run").graph()->copy();
  insert_ready_marks(graph);
  const auto marks = c10::make_intrusive<ReadyMarks>();
  std::vector<std::pair<std::size_t, at::Tensor>> seen;
  marks->ready = [&](std::size_t index, const c10::IValue& value) {
    seen.emplace_back(index, value.toTensor().clone());
  };
  torch::jit::Stack stack{module._ivalue(), at::ones({3}), c10::IValue::make_capsule(marks)};
  torch::jit::InterpreterState(torch::jit::Code(graph, "run")).run(stack);
  const auto& results = stack.back().toTupleRef().elements();
  std::vector<std::size_t> order;
  for (const auto& [index, value] : seen) {
    EXPECT_TRUE(value.equal(results[index].toTensor())) << "it was written to afterwards";
    order.push_back(index);
  }
  return order;
}

TEST(ReadyMarks, StandBehindWhatMakesAResult) {
  using testing::ElementsAre;
  using testing::IsEmpty;
  EXPECT_THAT(
      ready_in("\ndef run(self, x):\n    a = x + 1\n    b = a * 2\n    return (b * 3, b, a)\n"),
      ElementsAre(2, 1));
  // The last one is ready when all is.
  EXPECT_THAT(ready_in("\ndef run(self, x):\n    return (x + 1,)\n"), IsEmpty());
  // What is written later is not ready yet, nor is what it is a view of.
  EXPECT_THAT(ready_in("\ndef run(self, x):\n    a = x + 1\n    b = a * 2\n    a.add_(1)\n"
                       "    return (a, b)\n"),
              ElementsAre(1));
  EXPECT_THAT(ready_in("\ndef run(self, x):\n    a = x + 1\n    v = a[0:2]\n    b = x * 2\n"
                       "    v.zero_()\n    return (a, b)\n"),
              ElementsAre(1));
  // Arguments are the engine's affair.
  EXPECT_THAT(ready_in("\ndef run(self, x):\n    a = x + 1\n    return (x, a * 2)\n"), IsEmpty());
}

TEST(TensorBounds, OfListsAndOfConstantsAreLookedAt) {
  at::Tensor forged = at::ones({4});
  forged.unsafeGetTensorImpl()->set_sizes_and_strides(c10::IntArrayRef({5}), c10::IntArrayRef({1}));
  torch::jit::Module module("__torch__.M");
  module.register_attribute("many", c10::ListType::ofTensors(),
                            c10::List<at::Tensor>({at::ones({2}), forged}));
  const auto listed = check_tensor_bounds(module);
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(listed.error().message, HasSubstr("the attribute many is larger than its bytes"));

  const auto coded = module_of("\ndef run(self, x):\n    return (x + 1,)\n");
  EXPECT_TRUE(check_tensor_bounds(coded));
  const auto graph = coded.get_method("run").graph();
  const torch::jit::WithInsertPoint start(*graph->nodes().begin());
  graph->insertConstant(forged);
  const auto constant = check_tensor_bounds(coded);
  ASSERT_FALSE(constant);
  EXPECT_THAT(constant.error().message, HasSubstr("a constant of its code"));
}

TEST(TensorBounds, OfPartsInPartsAreLookedAt) {
  at::Tensor forged = at::ones({4});
  forged.unsafeGetTensorImpl()->set_storage_offset(1);
  torch::jit::Module inner("__torch__.Inner");
  inner.register_buffer("w", forged);
  torch::jit::Module outer("__torch__.Outer");
  outer.register_module("part", inner);
  const auto checked = check_tensor_bounds(outer);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("part.w"));
}

}  // namespace
}  // namespace pareto::runtime
