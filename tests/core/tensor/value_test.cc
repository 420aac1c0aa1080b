#include "core/tensor/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "core/tensor/value_spec.h"

namespace pareto {
namespace {

Tensor floats(Shape shape, std::vector<float> numbers) {
  auto tensor = Tensor::allocate(DType::kFloat32, std::move(shape)).value();
  std::memcpy(tensor.mutable_bytes().data(), numbers.data(), tensor.size_bytes());
  return tensor;
}

Value every_kind(std::int64_t batch) {
  return Tuple{{floats({batch, 3}, std::vector<float>(static_cast<std::size_t>(3 * batch), 1.5F)),
                None{}, Uninitialized{}, true, std::int64_t{-7}, 0.1, "text",
                List{{std::int64_t{1}, std::int64_t{2}}},
                Dict{{{"a", floats({2 * batch + 1},
                                   std::vector<float>(static_cast<std::size_t>(2 * batch + 1)))},
                      {std::int64_t{4}, List{}}}}}};
}

TEST(Value, BitEqualityGoesDeep) {
  EXPECT_TRUE(bit_equal(every_kind(2), every_kind(2)));
  EXPECT_FALSE(bit_equal(every_kind(2), every_kind(3)));
  EXPECT_FALSE(bit_equal(Value(std::int64_t{1}), Value(true)));
  EXPECT_FALSE(bit_equal(Value(0.0), Value(-0.0)));
  EXPECT_FALSE(bit_equal(Value(None{}), Value(Uninitialized{})));
  EXPECT_FALSE(bit_equal(Value(List{{true}}), Value(Tuple{{true}})));
}

TEST(Value, TensorsComeDepthFirst) {
  const Value value = every_kind(2);
  const auto tensors = tensors_of(value);
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0]->shape(), (Shape{2, 3}));
  EXPECT_EQ(tensors[1]->shape(), (Shape{5}));
  EXPECT_EQ(tensor_bytes(value), 24U + 20U);
}

TEST(Value, RelativeErrorIsOverTheLargestExpected) {
  EXPECT_DOUBLE_EQ(relative_error(floats({2}, {1, -4}), floats({2}, {1, -4})), 0);
  EXPECT_DOUBLE_EQ(relative_error(floats({2}, {1, -4}), floats({2}, {2, -4})), 0.25);
  EXPECT_TRUE(std::isinf(relative_error(floats({2}, {1, 2}), floats({1, 2}, {1, 2}))));
  EXPECT_TRUE(std::isinf(relative_error(floats({1}, {1}), floats({1}, {NAN}))));
  EXPECT_DOUBLE_EQ(relative_error(floats({1}, {NAN}), floats({1}, {NAN})), 0);
  EXPECT_TRUE(std::isinf(relative_error(Value(true), Value(false))));
}

TEST(ValueSpec, JoinsTwoBatchesIntoSymbols) {
  const auto spec = join_specs(every_kind(2), 2, every_kind(3), 3);
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->items[0].tensor.dims, (std::vector<SymbolicDim>{{0, 1}, {3, 0}}));
  EXPECT_EQ(spec->items[8].items[0].tensor.dims, (std::vector<SymbolicDim>{{1, 2}}));
  EXPECT_EQ(spec->size_bytes(10).value(), 10U * 12 + 21 * 4);
  EXPECT_EQ(spec->items[0].describe(), "float32[Bx3]");
  EXPECT_EQ(spec->items[8].describe(), "Dict[string \"a\": float32[2B+1], int 4: List[]]");
}

TEST(ValueSpec, RefusesWhatDoesNotGrowWithTheBatch) {
  EXPECT_FALSE(join_specs(floats({4}, {0, 0, 0, 0}), 2, floats({3}, {0, 0, 0}), 3));
  EXPECT_FALSE(join_specs(floats({1}, {0}), 2, floats({4}, {0, 0, 0, 0}), 3));
  EXPECT_FALSE(join_specs(Value(true), 2, floats({1}, {0}), 3));
}

TEST(ValueSpec, IsCheckedAtAnotherBatch) {
  const auto spec = join_specs(every_kind(2), 2, every_kind(3), 3).value();
  EXPECT_TRUE(check_spec(spec, every_kind(4), 4));
  EXPECT_FALSE(check_spec(spec, every_kind(4), 5));
  const auto rows = join_specs(floats({2}, {0, 0}), 2, floats({3}, {0, 0, 0}), 3).value();
  const auto checked = check_spec(rows, floats({3}, {0, 0, 0}), 4);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message.find("dimension 0 of float32[B] is 3 at batch 4, and not 4"),
            0U)
      << checked.error().message;
  const auto number = join_specs(Value(std::int64_t{4}), 2, Value(std::int64_t{9}), 3).value();
  EXPECT_FALSE(check_spec(number, Value(std::int64_t{16}), 4)) << "a square";
  EXPECT_FALSE(check_spec(rows, Value(true), 4));
}

TEST(ValueSpec, IntsMayFollowTheBatch) {
  const auto join = [](std::int64_t at_two, std::int64_t at_five) {
    return join_specs(Value(at_two), 2, Value(at_five), 5).value();
  };
  const ValueSpec size = join(2 * 3 + 1, 5 * 3 + 1);
  EXPECT_EQ(*make_example(size, 10, 0)->get_if<std::int64_t>(), 31);
  EXPECT_EQ(*make_example(join(8, 8), 10, 0)->get_if<std::int64_t>(), 8);
  EXPECT_EQ(*make_example(join(1, 2), 10, 0)->get_if<std::int64_t>(), 1) << "no whole multiple";
  const auto again = value_spec_from_json(to_json(size));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*make_example(*again, 4, 0)->get_if<std::int64_t>(), 13);
}

TEST(ValueSpec, ExamplesAreReproducibleAndFit) {
  const auto spec = join_specs(every_kind(2), 2, every_kind(3), 3).value();
  const Value a = make_example(spec, 4, 1).value();
  EXPECT_TRUE(bit_equal(a, make_example(spec, 4, 1).value()));
  EXPECT_FALSE(bit_equal(a, make_example(spec, 4, 2).value()));
  EXPECT_EQ(tensors_of(a)[0]->shape(), (Shape{4, 3}));
  EXPECT_EQ(*a.get_if<Tuple>()->items[4].get_if<std::int64_t>(), -7);
}

TEST(ValueSpec, RangesOfIntegersTravelAndAreChecked) {
  ValueSpec spec;
  spec.kind = ValueSpec::Kind::kTensor;
  spec.tensor = {DType::kInt8, {{0, 1}}};
  spec.range = IntegerRange{-3, 5};
  const auto json = to_json(spec);
  const auto again = value_spec_from_json(json);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->range, spec.range);
  const Value made = make_example(*again, 300, 1).value();
  const Tensor& tensor = *made.get_if<Tensor>();
  std::set<int> seen;
  for (const std::byte one : tensor.bytes()) seen.insert(static_cast<std::int8_t>(one));
  EXPECT_EQ(*seen.begin(), -3);
  EXPECT_EQ(*seen.rbegin(), 5);
  EXPECT_EQ(seen.size(), 9U);
  for (const char* range :
       {"[0, 128]", "[5, -3]", "[0]", "[0, 1.5]", "\"a\"", "7", "[0, 18446744073709551615]"}) {
    auto bad = json;
    bad["range"] = nlohmann::json::parse(range);
    EXPECT_FALSE(value_spec_from_json(bad)) << range;
  }
  auto floats = json;
  floats["tensor"] = "float32";
  EXPECT_FALSE(value_spec_from_json(floats)) << "only integers and bools have a range";
}

TEST(ValueSpec, SamplesAreRepeatedAndChecked) {
  ValueSpec spec;
  spec.kind = ValueSpec::Kind::kTensor;
  spec.tensor = {DType::kInt16, {{0, 1}, {2, 0}}};
  spec.range = IntegerRange{-100, 7};
  spec.sample = {-100, 7, 3, 4};
  const auto json = to_json(spec);
  const auto again = value_spec_from_json(json);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->sample, spec.sample);
  const Value made = make_example(*again, 3, 1).value();
  const Tensor& tensor = *made.get_if<Tensor>();
  std::vector<std::int16_t> elements(6);
  ASSERT_EQ(tensor.size_bytes(), 12U);
  std::memcpy(elements.data(), tensor.bytes().data(), 12);
  EXPECT_EQ(elements, (std::vector<std::int16_t>{-100, 7, 3, 4, -100, 7}));
  EXPECT_TRUE(make_example(*again, 0, 1)) << "nothing has to be filled";
  for (const char* sample : {"[32768]", "[1.5]", "[\"a\"]", "7", "[18446744073709551615]"}) {
    auto bad = json;
    bad["sample"] = nlohmann::json::parse(sample);
    EXPECT_FALSE(value_spec_from_json(bad)) << sample;
  }
  auto many = json;
  many["sample"] = std::vector<int>(kMostSampled + 1, 1);
  EXPECT_FALSE(value_spec_from_json(many));
  auto floats = json;
  floats.erase("range");
  floats["tensor"] = "float32";
  EXPECT_FALSE(value_spec_from_json(floats)) << "only integers and bools have a sample";
}

TEST(ValueSpec, ReadsBackFromJson) {
  ValueSpec spec = join_specs(every_kind(2), 2, every_kind(3), 3).value();
  spec.items[5].leaf = Value(std::nan(""));
  const auto json = to_json(spec);
  const auto again = value_spec_from_json(json);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), json);
  EXPECT_EQ(again->describe(), spec.describe());
}

TEST(ValueSpec, NumbersThatNoIntegerHoldsAreRefused) {
  const auto problem = [](const std::string& text) {
    const auto spec = value_spec_from_json(nlohmann::json::parse(text));
    EXPECT_FALSE(spec) << text;
    return spec ? std::string() : spec.error().message;
  };
  for (const std::string number : {"9223372036854775808", "18446744073709551615", "1e19", "0.5"}) {
    EXPECT_EQ(problem(R"({"int":)" + number + "}"),
              "value spec: an int is a whole number of 64 bits");
    EXPECT_EQ(problem(R"({"int":1,"per_sample":)" + number + "}"),
              "value spec: per_sample belongs to an int; both lie within 2^40");
    EXPECT_EQ(problem(R"({"tensor":"float32","dims":[[2,)" + number + "]]}"),
              "value spec: a dimension is [constant, per_sample]");
    EXPECT_EQ(problem(R"({"tensor":"int64","dims":[],"range":[0,)" + number + "]}"),
              "value spec: a range is [low, high] of whole numbers, of integers or bools");
    EXPECT_EQ(problem(R"({"tensor":"int64","dims":[],"sample":[)" + number + "]}"),
              "value spec: a sample's numbers are whole and lie within its type's");
  }
  const auto million = value_spec_from_json(nlohmann::json::parse(R"({"int":1e6})"));
  ASSERT_TRUE(million) << million.error().message;
  EXPECT_EQ(*million->leaf.get_if<std::int64_t>(), 1'000'000);
}

TEST(ValueSpec, ForeignJsonIsChecked) {
  const auto refused = [](const char* text) {
    return !value_spec_from_json(nlohmann::json::parse(text));
  };
  EXPECT_TRUE(refused("3"));
  EXPECT_TRUE(refused("{}"));
  EXPECT_TRUE(refused(R"({"tensor":"qint8","dims":[]})"));
  EXPECT_TRUE(refused(R"({"tensor":"float32","dims":[[-1,0]]})"));
  EXPECT_TRUE(refused(R"({"tensor":"float32","dims":[[9223372036854775807,0]]})"));
  EXPECT_TRUE(refused(R"({"tensor":"float32","dims":3})"));
  EXPECT_TRUE(refused(R"({"dict":[[1]]})"));
  EXPECT_TRUE(refused(R"({"int":1,"per_sample":"x"})"));
  EXPECT_TRUE(refused(R"({"int":9223372036854775807,"per_sample":1})"));
  EXPECT_TRUE(refused(R"({"none":true,"per_sample":1})"));
  std::string deep = R"({"none":true})";
  // Nor where nothing is nested that far.
  constexpr std::size_t kFar = 500'000;
  EXPECT_TRUE(refused(
      (R"({"tensor":"float32","dims":)" + std::string(kFar, '[') + std::string(kFar, ']') + "}")
          .c_str()));
  for (int i = 0; i < 40; ++i) deep = R"({"list":[)" + deep + "]}";
  EXPECT_TRUE(refused(deep.c_str()));
}

}  // namespace
}  // namespace pareto
