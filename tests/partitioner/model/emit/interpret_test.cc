// The debugger: every value of the shards against the whole model's.
#include "partitioner/model/emit/interpret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "partitioner/model/emit/emit.h"
#include "partitioner/model/zoo/model_builder.h"
#include "tests/partitioner/model/emit/tied.h"
#include "tests/partitioner/scripted.h"

namespace pareto::model {
namespace {

using test::open;
using test::scripted;
using testing::HasSubstr;

Expected<Model> small_network() {
  zoo::ModelOptions small;
  small.num_classes = 10;
  small.input = {{{3, 64, 64}, DType::kFloat32}};
  return zoo::open_model("squeezenet1_0", small);
}

Cut cut_named(const Model& model, const std::string& name) {
  const auto cut = find_cut(model.graph(), model.split_points(), name);
  EXPECT_TRUE(cut) << cut.error().message;
  return cut ? *cut : Cut{};
}

TEST(Interpret, EveryValueOfACutModelIsTheWholeModels) {
  const auto model = small_network();
  ASSERT_TRUE(model) << model.error().message;
  InterpretOptions options;
  options.batch = 3;
  // A set of operators, and a position behind it.
  options.cuts = {cut_named(*model, "only:features.3.expand3x3_activation"),
                  cut_named(*model, "after:features.4")};
  std::size_t last = 0;
  std::size_t all = 0;
  const auto result = interpret(*model, options, [&](std::size_t done, std::size_t total) {
    EXPECT_GT(done, last);
    last = done;
    all = total;
  });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(last, all);
  EXPECT_EQ(result->operators.size(), model->graph().operators.size());
  EXPECT_GE(result->values, result->operators.size());
  EXPECT_EQ(result->differing, 0U);
  EXPECT_FALSE(result->first);
  EXPECT_TRUE(result->outputs_equal);
  EXPECT_EQ(result->operators.back().stage, 2U);
  EXPECT_TRUE(std::ranges::all_of(result->operators, &InterpretedOperator::is_finite));
}

TEST(Interpret, WorksUncutAndOnViews) {
  const auto model = open(test::transposed_views(), "31x31x7");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_TRUE(interpret(*model, {})->outputs_equal);
  for (const SplitPoint& point : model->split_points()) {
    if (!point.legal) continue;
    InterpretOptions options;
    options.cuts = {cut_at(point)};
    options.batch = 2;
    const auto result = interpret(*model, options);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->differing, 0U) << point.name;
  }
}

TEST(Interpret, NamesTheFirstValueThatDiffers) {
  const auto model = small_network();
  ASSERT_TRUE(model) << model.error().message;
  const auto layer =
      std::ranges::find(model->graph().operators, "features.7.squeeze", &Operator::scope);
  ASSERT_NE(layer, model->graph().operators.end());
  ASSERT_FALSE(layer->weights.empty());
  const Digest digest = model->weight_digests()[static_cast<std::size_t>(layer->weights.front())];
  InterpretOptions options;
  options.cuts = {cut_named(*model, "after:features.4")};
  // A device that holds another weight than the model has.
  options.weights = [&](const Digest& wanted) -> Expected<Tensor> {
    PARETO_ASSIGN(const Tensor own, model->weight(wanted));
    if (wanted != digest) return own;
    PARETO_ASSIGN(Tensor other, Tensor::allocate(own.dtype(), own.shape()));
    std::ranges::copy(own.bytes(), other.mutable_bytes().begin());
    other.mutable_bytes()[3] ^= std::byte{0x40};
    return other;
  };
  const auto result = interpret(*model, options);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_TRUE(result->first);
  const InterpretedOperator& op = result->operators[result->first->at];
  EXPECT_EQ(op.scope, "features.7.squeeze");
  EXPECT_EQ(op.stage, 1U);
  EXPECT_FALSE(op.is_equal);
  EXPECT_THAT(result->first->what, HasSubstr("elements differ, the most by"));
  EXPECT_GT(result->differing, 1U);
  EXPECT_FALSE(result->outputs_equal);
  // All before it are equal.
  for (std::size_t i = 0; i < result->first->at; ++i) {
    EXPECT_TRUE(result->operators[i].is_equal) << result->operators[i].scope;
  }
}

TEST(Interpret, AFileWhoseFlatGraphIsAnotherIsSeenAtItsOutputs) {
  torch::jit::Module module("__torch__.Offset");
  module.register_parameter("offset", torch::ones({8}), false);
  module.define("def forward(self, x):\n    return torch.relu(x) + self.offset\n");
  const test::Files files;
  Flat flat = read_model(files.save(module, "model")).value();
  flat.weights.at(0).tensor = torch::full({8}, 1.5);
  const auto model = Model::examine(std::move(flat), parse_input_shapes("8").value());
  ASSERT_TRUE(model) << model.error().message;
  const auto result = interpret(*model, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->differing, 0U);
  EXPECT_FALSE(result->outputs_equal);
}

TEST(Interpret, ShowsWhereAValueIsNotFinite) {
  const auto model = open(scripted("Divides",
                                   "def forward(self, x):\n"
                                   "    y = torch.relu(x) * 0\n"
                                   "    return torch.sigmoid(x / y)\n"),
                          "8");
  ASSERT_TRUE(model) << model.error().message;
  const auto result = interpret(*model, {});
  ASSERT_TRUE(result) << result.error().message;
  const auto infinite =
      std::ranges::find(result->operators, false, &InterpretedOperator::is_finite);
  ASSERT_NE(infinite, result->operators.end());
  EXPECT_EQ(infinite->kind, "aten::div");
  EXPECT_EQ(result->differing, 0U) << "the same NaN is the same bits";
}

TEST(Interpret, DrawsTheSameRandomNumbers) {
  const auto model = open(scripted("Noisy",
                                   "def forward(self, x):\n"
                                   "    y = torch.relu(x) + torch.rand_like(x)\n"
                                   "    return torch.tanh(y) + torch.rand_like(x)\n"),
                          "8");
  ASSERT_TRUE(model) << model.error().message;
  const auto result = interpret(*model, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->differing, 0U);
  EXPECT_TRUE(result->outputs_equal);
}

TEST(Interpret, RefusesCutsThatAreNoChain) {
  const auto model = small_network();
  ASSERT_TRUE(model) << model.error().message;
  InterpretOptions options;
  options.cuts = {cut_named(*model, "after:features.4"), cut_named(*model, "after:features.3")};
  const auto result = interpret(*model, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(result.error().message, HasSubstr("after:features.3 does not lie behind"));
}

}  // namespace
}  // namespace pareto::model
