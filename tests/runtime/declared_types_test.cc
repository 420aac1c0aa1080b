#include "runtime/declared_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pareto::runtime {
namespace {

using c10::IValue;
using c10::TypePtr;
using testing::HasSubstr;

/// Returns why a module is refused; "" if it is not.
std::string type_refusal(const torch::jit::Module& module) {
  const auto checked = check_declared_types(module);
  if (checked) return "";
  EXPECT_EQ(checked.error().code, ErrorCode::kCorrupt);
  return checked.error().message;
}

/// Returns why a module is refused that holds the value under that type.
std::string refusal_of(const TypePtr& type, const IValue& value) {
  torch::jit::Module module("__torch__.Shard");
  module.register_attribute("held", type, value);
  return type_refusal(module);
}

TypePtr list_of(const TypePtr& type) { return c10::ListType::create(type); }
TypePtr pair_of_numbers() {
  return c10::TupleType::create({c10::IntType::get(), c10::IntType::get()});
}
IValue numbers(std::int64_t count) {
  return c10::ivalue::Tuple::create(std::vector<IValue>(static_cast<std::size_t>(count), 1));
}

/// Returns a list that says it holds values of the type.
IValue tagged_list(const TypePtr& type, const std::vector<IValue>& values) {
  c10::impl::GenericList list(type);
  for (const IValue& value : values) list.push_back(value);
  return list;
}

TEST(CheckDeclaredTypes, ValuesOfTheirTypesPass) {
  EXPECT_EQ(refusal_of(c10::TensorType::get(), at::ones({2})), "");
  EXPECT_EQ(refusal_of(c10::IntType::get(), 5), "");
  EXPECT_EQ(refusal_of(c10::FloatType::get(), 1.5), "");
  EXPECT_EQ(refusal_of(c10::NumberType::get(), 1.5), "");
  EXPECT_EQ(refusal_of(c10::BoolType::get(), true), "");
  EXPECT_EQ(refusal_of(c10::StringType::get(), "text"), "");
  EXPECT_EQ(refusal_of(c10::NoneType::get(), IValue()), "");
  EXPECT_EQ(refusal_of(c10::DeviceObjType::get(), c10::Device("cpu")), "");
  EXPECT_EQ(refusal_of(c10::AnyType::get(), numbers(3)), "");
  const TypePtr maybe = c10::OptionalType::create(pair_of_numbers());
  EXPECT_EQ(refusal_of(maybe, IValue()), "");
  EXPECT_EQ(refusal_of(maybe, numbers(2)), "");
  const TypePtr either = c10::UnionType::create({c10::TensorType::get(), pair_of_numbers()});
  EXPECT_EQ(refusal_of(either, at::ones({2})), "");
  EXPECT_EQ(refusal_of(either, numbers(2)), "");
  EXPECT_EQ(refusal_of(list_of(pair_of_numbers()), tagged_list(pair_of_numbers(), {numbers(2)})),
            "");
  c10::Dict<std::string, at::Tensor> dict;
  dict.insert("a", at::ones({1}));
  EXPECT_EQ(refusal_of(c10::DictType::create(c10::StringType::get(), c10::TensorType::get()), dict),
            "");
}

TEST(CheckDeclaredTypes, PlainValuesOfOtherTypesAreRefused) {
  EXPECT_EQ(refusal_of(c10::TensorType::get(), 5),
            "the attribute held of __torch__.Shard is a value of the kind Int, but its type is "
            "Tensor");
  for (const IValue& value : {IValue(), IValue(1.5), IValue(true), IValue(at::ones({1}))}) {
    EXPECT_THAT(refusal_of(c10::IntType::get(), value), HasSubstr("its type is int"))
        << value.tagKind();
  }
  EXPECT_THAT(refusal_of(c10::OptionalType::create(c10::IntType::get()), 1.5),
              HasSubstr("its type is Optional[int]"));
  EXPECT_THAT(refusal_of(pair_of_numbers(), 5), HasSubstr("its type is Tuple[int, int]"));
}

TEST(CheckDeclaredTypes, ContainersOfOtherTypesAreRefused) {
  const TypePtr type = pair_of_numbers();
  EXPECT_EQ(refusal_of(type, numbers(1)),
            "the attribute held of __torch__.Shard is a tuple of 1, but its type is Tuple[int, "
            "int]");
  EXPECT_THAT(refusal_of(c10::OptionalType::create(type), numbers(3)), HasSubstr("a tuple of 3"));
  EXPECT_THAT(refusal_of(c10::UnionType::create({c10::TensorType::get(), type}), numbers(3)),
              HasSubstr("a tuple of 3"));
  EXPECT_THAT(refusal_of(type, c10::ivalue::Tuple::create({1, 1.5})), HasSubstr("kind Double"));
  // A list that says what its type says, and one that says the truth.
  EXPECT_THAT(refusal_of(list_of(type), tagged_list(type, {numbers(2), numbers(1)})),
              HasSubstr("a tuple of 1"));
  EXPECT_THAT(refusal_of(list_of(type), tagged_list(c10::IntType::get(), {1})),
              HasSubstr("a list of int, but its type is List[Tuple[int, int]]"));
  EXPECT_THAT(refusal_of(c10::AnyType::get(), tagged_list(type, {numbers(1)})),
              HasSubstr("a tuple of 1"));
  c10::impl::GenericDict dict(c10::StringType::get(), type);
  dict.insert("a", numbers(2));
  EXPECT_EQ(refusal_of(c10::DictType::create(c10::StringType::get(), type), dict), "");
  dict.insert("b", numbers(1));
  EXPECT_THAT(refusal_of(c10::DictType::create(c10::StringType::get(), type), dict),
              HasSubstr("a tuple of 1"));
}

TEST(CheckDeclaredTypes, ObjectsOfOtherClassesAreRefusedHoweverDeepTheyLie) {
  torch::jit::Module large("__torch__.A");
  large.register_attribute("a50", c10::IntType::get(), 5);
  const torch::jit::Module small("__torch__.B");
  torch::jit::Module middle("__torch__.Middle");
  middle.register_attribute("m", large.type(), large._ivalue());
  torch::jit::Module module("__torch__.Shard");
  module.register_module("middle", middle);
  EXPECT_EQ(type_refusal(module), "");
  middle.setattr("m", large._ivalue());
  middle._ivalue()->setSlot(0, small._ivalue());
  EXPECT_EQ(type_refusal(module),
            "the attribute m of __torch__.Middle is an object of __torch__.B, but its type is "
            "__torch__.A");
  middle._ivalue()->setSlot(0, 5);
  EXPECT_THAT(type_refusal(module), HasSubstr("a value of the kind Int"));
}

TEST(CheckDeclaredTypes, AConstantThatSaysAnotherTypeIsRefused) {
  const auto with = [](const IValue& constant) {
    torch::jit::Module module("__torch__.Shard");
    module.define("def run(self, x):\n    return (x,)\n");
    const auto graph = module.get_method("run").graph();
    const torch::jit::WithInsertPoint here(*graph->nodes().begin());
    graph->insertConstant(constant);
    return type_refusal(module);
  };
  const TypePtr type = pair_of_numbers();
  EXPECT_EQ(with(tagged_list(type, {numbers(2)})), "");
  EXPECT_EQ(with(tagged_list(type, {numbers(1)})),
            "a constant of its code is a tuple of 1, but its type is Tuple[int, int]");
  EXPECT_THAT(with(c10::ivalue::Tuple::create({7, tagged_list(type, {numbers(1)})})),
              HasSubstr("a tuple of 1"));
}

TEST(CheckDeclaredTypes, AConstantInManyPlacesIsComparedOnce) {
  torch::jit::Module module("__torch__.Shard");
  module.define("def run(self, x):\n    return (x,)\n");
  const auto graph = module.get_method("run").graph();
  const torch::jit::WithInsertPoint here(*graph->nodes().begin());
  const IValue constant = tagged_list(c10::IntType::get(), std::vector<IValue>(1'000'000, 1));
  for (int i = 0; i < 10'000; ++i) graph->insertConstant(constant);
  EXPECT_EQ(type_refusal(module), "");
}

TEST(CheckDeclaredTypes, AValueInManyPlacesIsComparedOnce) {
  torch::jit::Module inner("__torch__.Last");
  IValue tuple = numbers(1);
  TypePtr type = c10::TupleType::create({c10::IntType::get()});
  for (int i = 0; i < 60; ++i) {
    torch::jit::Module outer("__torch__.Level" + std::to_string(i));
    outer.register_module("one", inner);
    outer.register_module("other", inner);
    inner = outer;
    tuple = c10::ivalue::Tuple::create({tuple, tuple});
    type = c10::TupleType::create({type, type});
  }
  inner.register_attribute("tuple", type, tuple);
  inner.register_attribute("anything", c10::AnyType::get(), tuple);
  EXPECT_EQ(type_refusal(inner), "");
}

}  // namespace
}  // namespace pareto::runtime
