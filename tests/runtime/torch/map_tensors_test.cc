#include "runtime/torch/map_tensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace pareto::runtime {
namespace {

at::Tensor doubled(const at::Tensor& tensor) { return tensor * 2; }

TEST(MapTensors, ChangesEveryTensorAndKeepsTheRest) {
  c10::impl::GenericDict dict(c10::StringType::get(), c10::TensorType::get());
  dict.insert("a", at::ones({2}));
  c10::List<at::Tensor> list({at::ones({3})});
  const c10::IValue mapped = map_tensors(
      c10::ivalue::Tuple::create({dict, list, std::int64_t{7}, c10::IValue()}), doubled);
  const auto& items = mapped.toTupleRef().elements();
  EXPECT_TRUE(items[0].toGenericDict().at("a").toTensor().equal(at::full({2}, 2)));
  EXPECT_TRUE(items[1].toTensorVector()[0].equal(at::full({3}, 2)));
  EXPECT_EQ(items[2].toInt(), 7);
  EXPECT_TRUE(items[3].isNone());
}

TEST(MapTensors, ATupleMayHoldAnUndefinedTensor) {
  const c10::IValue mapped =
      map_tensors(c10::ivalue::Tuple::create({at::ones({2}), at::Tensor()}), doubled);
  const auto& items = mapped.toTupleRef().elements();
  EXPECT_TRUE(items[0].toTensor().equal(at::full({2}, 2)));
  EXPECT_FALSE(items[1].toTensor().defined());
}

TEST(MapTensors, ANamedTupleKeepsItsName) {
  const auto type = c10::TupleType::createNamed(
      c10::QualifiedName("__torch__.Pair"), std::vector<std::string>{"x", "y"},
      std::vector<c10::TypePtr>{c10::TensorType::get(), c10::TensorType::get()});
  const c10::IValue mapped =
      map_tensors(c10::ivalue::Tuple::createNamed({at::ones({2}), at::Tensor()}, type), doubled);
  EXPECT_EQ(mapped.toTupleRef().type()->name()->name(), "Pair");
}

}  // namespace
}  // namespace pareto::runtime
