#include "runtime/torch/sound_casts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <memory>
#include <string>
#include <vector>

namespace pareto::runtime {
namespace {

using c10::TypePtr;
using testing::HasSubstr;

/// Returns why a value of one type is not taken for another; "" if it is.
std::string cast_refusal(const TypePtr& from, const TypePtr& to) {
  torch::jit::Graph graph;
  torch::jit::Value* const value = graph.addInput()->setType(from);
  const auto checked = check_cast(*graph.insertUncheckedCast(value, to)->node());
  if (checked) return "";
  EXPECT_EQ(checked.error().code, ErrorCode::kPermission);
  return checked.error().message;
}

TypePtr tuple_of(const std::vector<TypePtr>& elements) { return c10::TupleType::create(elements); }
TypePtr sequence_of(const TypePtr& element) { return c10::ListType::create(element); }
TypePtr dictionary_of(const TypePtr& value) {
  return c10::DictType::create(c10::StringType::get(), value);
}
TypePtr maybe(const TypePtr& type) { return c10::OptionalType::create(type); }
TypePtr either_of(const std::vector<TypePtr>& types) { return c10::UnionType::create(types); }

const TypePtr& tensor_type() {
  static const TypePtr kTensor = c10::TensorType::get();
  return kTensor;
}
const TypePtr& int_type() {
  static const TypePtr kWhole = c10::IntType::get();
  return kWhole;
}

TEST(CheckCast, WhatTheCompilerWritesPasses) {
  const auto unit = std::make_shared<torch::jit::CompilationUnit>();
  const TypePtr object = c10::ClassType::create("__torch__.A", unit, /*is_module=*/true);
  struct Case {
    TypePtr from;
    TypePtr to;
  };
  const std::vector<TypePtr> all{tensor_type(),
                                 int_type(),
                                 c10::StringType::get(),
                                 sequence_of(tensor_type()),
                                 sequence_of(maybe(tensor_type())),
                                 tuple_of({tensor_type(), int_type()}),
                                 dictionary_of(tensor_type()),
                                 object};
  for (const TypePtr& type : all) {
    EXPECT_EQ(cast_refusal(type, type), "") << *type;
    EXPECT_EQ(cast_refusal(maybe(type), type), "") << *type;
    EXPECT_EQ(cast_refusal(type, maybe(type)), "") << *type;
    EXPECT_EQ(cast_refusal(c10::NoneType::get(), type), "") << *type << ": a branch never taken";
  }
  for (const Case& good :
       {Case{either_of({tensor_type(), sequence_of(tensor_type())}), sequence_of(tensor_type())},
        Case{either_of({tensor_type(), sequence_of(tensor_type())}), tensor_type()},
        Case{either_of({tensor_type(), tuple_of({tensor_type(), tensor_type()}),
                        dictionary_of(tensor_type())}),
             either_of({tuple_of({tensor_type(), tensor_type()}), dictionary_of(tensor_type())})},
        Case{c10::AnyType::get(), tensor_type()}, Case{c10::NumberType::get(), int_type()},
        Case{tuple_of({tensor_type(), int_type()}),
             tuple_of({tensor_type(), c10::NumberType::get()})}}) {
    EXPECT_EQ(cast_refusal(good.from, good.to), "") << *good.from << " to " << *good.to;
  }
}

TEST(CheckCast, WhatIsOfTheSameKindAndAnotherTypeIsRefused) {
  const auto unit = std::make_shared<torch::jit::CompilationUnit>();
  const TypePtr small = c10::ClassType::create("__torch__.Small", unit, /*is_module=*/true);
  const TypePtr big = c10::ClassType::create("__torch__.Big", unit, /*is_module=*/true);
  const TypePtr two = tuple_of({tensor_type(), tensor_type()});
  const TypePtr three = tuple_of({tensor_type(), tensor_type(), tensor_type()});
  struct Case {
    TypePtr from;
    TypePtr to;
  };
  for (const Case& bad :
       {Case{two, three}, Case{three, two}, Case{small, big}, Case{maybe(two), three},
        Case{two, maybe(three)}, Case{either_of({two, three}), three},
        Case{sequence_of(two), sequence_of(three)}, Case{dictionary_of(two), dictionary_of(three)},
        Case{tuple_of({two}), tuple_of({three})},
        Case{tuple_of({c10::AnyType::get()}), tuple_of({two})}, Case{c10::AnyType::get(), three},
        Case{c10::AnyType::get(), sequence_of(three)}, Case{c10::AnyType::get(), big},
        Case{either_of({small, big}), big},
        Case{either_of({tensor_type(), small}), either_of({int_type(), big})}}) {
    EXPECT_THAT(cast_refusal(bad.from, bad.to), HasSubstr("nothing checks it (unchecked_cast)"))
        << *bad.from << " to " << *bad.to;
  }
  EXPECT_EQ(cast_refusal(two, three),
            "a value of the type Tuple[Tensor, Tensor] is taken for a Tuple[Tensor, Tensor, "
            "Tensor], and nothing checks it (unchecked_cast); give it one type in the model");
}

}  // namespace
}  // namespace pareto::runtime
