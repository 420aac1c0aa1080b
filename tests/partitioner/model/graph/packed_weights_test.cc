// Objects that hold tensors and are saved as such, as LibTorch's quantised layers are.
#include "partitioner/model/graph/packed_weights.h"

#include <gtest/gtest.h>
#include <torch/custom_class.h>

namespace pareto::model {
namespace {

/// An object whose state is a tuple of tensors, and maybe an object of its kind.
struct PackedThing : torch::CustomClassHolder {
  std::vector<at::Tensor> tensors;
  c10::intrusive_ptr<PackedThing> inner;
};

using State = std::tuple<std::vector<at::Tensor>, c10::optional<c10::intrusive_ptr<PackedThing>>>;

State state_of_thing(const c10::intrusive_ptr<PackedThing>& thing) {
  if (!thing->inner) return {thing->tensors, c10::nullopt};
  return {thing->tensors, thing->inner};
}

c10::intrusive_ptr<PackedThing> thing_of_state(const State& state) {
  auto thing = c10::make_intrusive<PackedThing>();
  thing->tensors = std::get<0>(state);
  return thing;
}

/// An object that cannot be saved.
struct UnsavedThing : torch::CustomClassHolder {};

/// Makes the classes known, once in a process.
void register_things() {
  static const auto kPacked =
      torch::class_<PackedThing>("pareto_test", "PackedThing")
          .def_pickle(
              [](const c10::intrusive_ptr<PackedThing>& self) { return state_of_thing(self); },
              [](State state) { return thing_of_state(state); });
  static const auto kUnsaved = torch::class_<UnsavedThing>("pareto_test", "UnsavedThing");
}

c10::IValue thing_of(std::vector<at::Tensor> tensors, c10::intrusive_ptr<PackedThing> inner = {}) {
  register_things();
  auto thing = c10::make_intrusive<PackedThing>();
  thing->tensors = std::move(tensors);
  thing->inner = std::move(inner);
  return c10::IValue(thing);
}

at::Tensor quantised() { return at::quantize_per_tensor(at::ones({3, 2}), 0.1, 0, at::kQInt8); }

TEST(PackedTensors, AreThoseThatAnObjectIsSavedAs) {
  const at::Tensor one = at::ones({2});
  const at::Tensor two = at::zeros({3});
  const auto tensors = packed_tensors(thing_of({one, two}));
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_TRUE(tensors[0].is_same(one));
  EXPECT_TRUE(tensors[1].is_same(two));
  EXPECT_TRUE(packed_tensors(thing_of({})).empty());
}

TEST(PackedTensors, OfObjectsWithinObjectsCountToo) {
  auto inner = c10::make_intrusive<PackedThing>();
  inner->tensors = {at::ones({5})};
  auto middle = c10::make_intrusive<PackedThing>();
  middle->tensors = {at::ones({4}), at::ones({4})};
  middle->inner = inner;
  EXPECT_EQ(packed_tensors(thing_of({at::ones({3})}, middle)).size(), 4U);
}

TEST(PackedTensors, UndefinedOnesAreNone) {
  EXPECT_EQ(packed_tensors(thing_of({at::ones({1}), at::Tensor()})).size(), 1U);
}

TEST(PackedTensors, OtherValuesHaveNone) {
  register_things();
  const c10::intrusive_ptr<UnsavedThing> unsaved = c10::make_intrusive<UnsavedThing>();
  for (const c10::IValue& value :
       {c10::IValue(), c10::IValue(at::ones({1})), c10::IValue(5), c10::IValue("text"),
        c10::IValue(c10::List<at::Tensor>({at::ones({1})})), c10::IValue(unsaved)}) {
    EXPECT_TRUE(packed_tensors(value).empty()) << value.tagKind();
    EXPECT_FALSE(packed_weight(value)) << value.tagKind();
  }
}

TEST(PackedWeight, IsTheFirstQuantisedTensor) {
  EXPECT_FALSE(packed_weight(thing_of({at::ones({2})})));
  const auto weight = packed_weight(thing_of({at::ones({2}), quantised(), quantised()}));
  ASSERT_TRUE(weight);
  EXPECT_EQ(weight->sizes(), (std::vector<std::int64_t>{3, 2}));
}

}  // namespace
}  // namespace pareto::model
