// Inputs that no shape is given for: constants if the file has a default, errors if not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/model/graph/examine.h"
#include "tests/partitioner/model/graph/flattened.h"

namespace pareto::model {
namespace {

using test::scripted;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Flat flat_of(const std::string& arguments, const std::string& body) {
  const test::Files files;
  auto flat = read_model(
      files.save(scripted("Bound", "def forward(self, " + arguments + "):\n" + body), "model"));
  EXPECT_TRUE(flat) << flat.error().message;
  return *std::move(flat);
}

std::string refusal_to_bind(Flat flat, const std::vector<InputShape>& shapes) {
  const auto bound = bind_inputs(flat, shapes);
  if (bound) return "none";
  EXPECT_EQ(bound.error().code, ErrorCode::kInvalidArgument);
  return bound.error().message;
}

std::vector<InputShape> shapes_for_bind(const std::string& text) {
  return parse_input_shapes(text).value();
}

TEST(BindInputs, DefaultsBecomeConstantsAndAreFolded) {
  Flat flat = flat_of("x, mask: Optional[Tensor]=None, scale: float=2.0, deep: bool=False",
                      "    if mask is not None:\n        x = x * mask\n"
                      "    if deep:\n        x = torch.sigmoid(x)\n"
                      "    return torch.relu(x) * scale\n");
  ASSERT_EQ(flat.model_inputs, 4U);
  const auto bound = bind_inputs(flat, shapes_for_bind("4"));
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_EQ(flat.model_inputs, 1U);
  EXPECT_EQ(flat.graph->inputs().size(), 1U + flat.weights.size());
  EXPECT_EQ(test::count(flat.graph, "prim::If"), 0U);
  EXPECT_EQ(test::count(flat.graph, "aten::sigmoid"), 0U);
  torch::jit::Stack stack{at::ones({2})};
  for (const FlatWeight& weight : flat.weights) stack.emplace_back(weight.to_run());
  torch::jit::InterpreterState(torch::jit::Code(flat.graph, "bound")).run(stack);
  EXPECT_TRUE(stack.back().toTensor().equal(at::full({2}, 2.0)));
}

TEST(BindInputs, WeightsThatOnlyADefaultSwitchedOffAreDropped) {
  torch::jit::Module module("__torch__.Heads");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.register_parameter("used", at::randn({3, 3}), false);
  module.register_parameter("aux", at::randn({5, 3}), false);
  module.define(
      "def forward(self, x, both: bool=False):\n"
      "    y = torch.linear(x, self.used)\n"
      "    if both:\n        y = torch.cat([y, torch.linear(x, self.aux)], 1)\n"
      "    return y\n");
  const test::Files files;
  Flat flat = read_model(files.save(module, "model")).value();
  ASSERT_EQ(flat.weights.size(), 2U);
  ASSERT_TRUE(bind_inputs(flat, shapes_for_bind("3")));
  ASSERT_EQ(flat.weights.size(), 1U);
  EXPECT_EQ(flat.weights[0].name, "used");
}

TEST(BindInputs, WhatIsGivenIsNotBound) {
  Flat flat = flat_of("x, mask: Optional[Tensor]=None",
                      "    if mask is not None:\n        x = x * mask\n    return torch.relu(x)\n");
  ASSERT_TRUE(bind_inputs(flat, shapes_for_bind("4;4")));
  EXPECT_EQ(flat.model_inputs, 2U);
}

TEST(BindInputs, MissingShapesAreNamed) {
  const std::string body = "    return x + y * z\n";
  EXPECT_THAT(refusal_to_bind(flat_of("x, y, z", body), shapes_for_bind("4")),
              AllOf(HasSubstr("no shape for y, z;"), HasSubstr("--input-shape")));
  EXPECT_THAT(refusal_to_bind(flat_of("x, y, z", body), {}), HasSubstr("no shape for x, y, z;"));
  EXPECT_EQ(refusal_to_bind(flat_of("x, y, z", body), shapes_for_bind("4;4;4")), "none");
}

TEST(BindInputs, ADefaultBehindOneThatIsMissingDoesNotHelp) {
  EXPECT_THAT(refusal_to_bind(flat_of("x, y, scale: float=2.0", "    return x + y * scale\n"),
                              shapes_for_bind("4")),
              HasSubstr("no shape for y;"));
}

TEST(BindInputs, FilesForSomeAreNotEnough) {
  auto shapes = shapes_for_bind("4");
  shapes[0].data = Tensor();
  EXPECT_THAT(refusal_to_bind(flat_of("x, y", "    return x + y\n"), shapes),
              AllOf(HasSubstr("it takes 2 inputs (x, y), and there is a file for x only"),
                    HasSubstr("--input")));
  shapes.push_back(shapes[0]);
  EXPECT_THAT(refusal_to_bind(flat_of("x, y, z", "    return x + y + z\n"), shapes),
              HasSubstr("there are files for x, y only"));
}

TEST(BindInputs, TooManyShapesAreRefused) {
  EXPECT_EQ(refusal_to_bind(flat_of("x", "    return x + 1\n"), shapes_for_bind("4;4")),
            "2 input shapes are given, the model has 1 input");
}

TEST(BindInputs, OnlyTensorsAreGivenFromOutside) {
  for (const std::string argument :
       {"n: int", "n: List[Tensor]", "n: float", "n: Dict[str, Tensor]"}) {
    const std::string use = argument.find("[") == std::string::npos ? "n" : "len(n)";
    EXPECT_THAT(refusal_to_bind(flat_of("x, " + argument, "    return x + " + use + "\n"),
                                shapes_for_bind("4;4")),
                HasSubstr("only tensors can be given from outside"))
        << argument;
  }
}

}  // namespace
}  // namespace pareto::model
