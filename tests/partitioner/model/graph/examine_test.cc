#include "partitioner/model/graph/examine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/torch/convert.h"
#include "tests/partitioner/model/graph/small_net.h"
#include "tests/partitioner/scripted.h"

namespace pareto::model {
namespace {

using test::open;
using test::scripted;
using test::small_net;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const ValueSpec& spec_after(const Model& model, std::size_t position) {
  const Operator& op = model.graph().operators.at(position);
  return model.graph().values[static_cast<std::size_t>(op.outputs.at(0))].spec;
}

TEST(ModelExamine, ShapesFollowTheBatch) {
  const auto model = open(small_net(), "3x8x8");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(test::kinds(model->graph()),
              ElementsAre("aten::conv2d", "aten::relu", "aten::flatten", "aten::linear"));
  EXPECT_EQ(spec_after(*model, 0).tensor.shape(5), (Shape{5, 8, 6, 6}));
  EXPECT_EQ(spec_after(*model, 2).tensor.shape(5), (Shape{5, 288}));
  EXPECT_EQ(model->split_points().size(), 3U);
}

TEST(ModelExamine, FlopsArePerSample) {
  const auto model = open(small_net(), "3x8x8");
  ASSERT_TRUE(model) << model.error().message;
  const auto& operators = model->graph().operators;
  const double outputs = 8 * 6 * 6;
  EXPECT_DOUBLE_EQ(operators[0].flops_per_sample, outputs * (2 * 27 + 1));
  EXPECT_DOUBLE_EQ(operators[1].flops_per_sample, outputs);
  EXPECT_DOUBLE_EQ(operators[2].flops_per_sample, 0);
  EXPECT_DOUBLE_EQ(operators[3].flops_per_sample, 10 * 2 * outputs);
}

TEST(ModelExamine, WhatTheModelWritesStaysWhatItIsInTheFile) {
  torch::jit::Module module("__torch__.Counting");
  module.register_attribute("training", c10::BoolType::get(), true);
  module.register_buffer("count", torch::zeros({1}));
  module.register_buffer("mean", torch::zeros({4}));
  module.register_buffer("variance", torch::ones({4}));
  module.define(R"(
def forward(self, x):
    self.count.add_(1.0)
    y = torch.batch_norm(x, None, None, self.mean, self.variance, True, 0.1, 1e-5, False)
    return y + self.count
)");
  const auto model = open(module, "4");
  ASSERT_TRUE(model) << model.error().message;
  const auto inputs = model->example_inputs(3, 1).value();
  const auto first = model->run_whole(inputs);
  ASSERT_TRUE(first) << first.error().message;
  const auto second = model->run_whole(inputs);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_TRUE(bit_equal(Value(List{*first}), Value(List{*second})));
  for (const Digest& digest : model->weight_digests()) {
    EXPECT_EQ(sha256(model->weight(digest).value().bytes()), digest)
        << "what is sent is what was named";
  }
  const Tensor zeros = runtime::from_torch(torch::zeros({4})).value();
  EXPECT_THAT(model->weight_digests(), ::testing::Contains(sha256(zeros.bytes())))
      << "examining has moved no mean";
}

TEST(ModelExamine, IntsAndListsCross) {
  const auto model = open(scripted("Lists", R"(
def forward(self, x):
    n = x.size(0)
    parts = x.chunk(2, 1)
    a = torch.relu(parts[0])
    return (a + parts[1]).reshape([n, -1])
)"),
                          "4x6");
  ASSERT_TRUE(model) << model.error().message;
  bool list = false;
  bool batch = false;
  for (const GraphValue& value : model->graph().values) {
    list = list || (value.spec.kind == ValueSpec::Kind::kList && value.spec.items.size() == 2 &&
                    value.spec.items[0].tensor.shape(3) == Shape{3, 2, 6});
    batch = batch || (value.spec.leaf.is<std::int64_t>() && value.spec.per_sample == 1);
  }
  EXPECT_TRUE(list);
  EXPECT_TRUE(batch) << "an int that is the batch size is known to be";
}

TEST(ModelExamine, ShapesThatDependOnTheDataAreNotCutThrough) {
  const auto model = open(test::sized_by_data(), "50");
  ASSERT_TRUE(model) << model.error().message;
  bool said = false;
  for (const SplitPoint& point : model->split_points()) {
    said = said || (!point.legal && point.reason.find("depends on the data") != std::string::npos);
  }
  EXPECT_TRUE(said);
}

TEST(ModelExamine, NumbersReadOffTheDataMakeShapesDependOnThem) {
  const auto reasons = [](const std::string& count) {
    const auto model = open(scripted("Counted", "def forward(self, x):\n    k = " + count +
                                                    "\n"
                                                    "    return torch.sigmoid(x[:, :k]).sum(1)\n"),
                            "500");
    if (!model) return model.error().message;
    std::string all;
    for (const SplitPoint& point : model->split_points()) all += point.reason + "\n";
    return all;
  };
  EXPECT_THAT(reasons("int(x[0].argmax()) + 1"), HasSubstr("depends on the data"));
  EXPECT_THAT(reasons("x.size(1) // 2"), Not(HasSubstr("depends on the data")));
}

TEST(ModelExamine, AliasesWrittenLaterForbidTheCut) {
  const auto model = open(scripted("Alias", R"(
def forward(self, x):
    base = torch.relu(x)
    view = base[:, 0:2]
    other = torch.sigmoid(x)
    view.fill_(3.0)
    return base + other.sum()
)"),
                          "4");
  ASSERT_TRUE(model) << model.error().message;
  const auto kinds = test::kinds(model->graph());
  const auto at = [&](const std::string& kind) {
    return static_cast<std::size_t>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
  };
  ASSERT_LT(at("aten::fill_"), kinds.size());
  // Between the view and the write both names of the memory cross; after the write only one does.
  EXPECT_FALSE(model->split_points()[at("aten::fill_") - 1].legal);
  EXPECT_THAT(model->split_points()[at("aten::fill_") - 1].reason, HasSubstr("fill_"));
  EXPECT_TRUE(model->split_points()[at("aten::fill_")].legal);
  EXPECT_TRUE(model->split_points()[at("aten::relu")].legal);
}

TEST(ModelExamine, WeightsWrittenWhileUsedOnBothSides) {
  torch::jit::Module module("__torch__.Counter");
  module.register_buffer("seen", torch::zeros({4}));
  module.define(R"(
def forward(self, x):
    self.seen.add_(1.0)
    y = torch.relu(x)
    return y + self.seen
)");
  const auto model = open(module, "4");
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_FALSE(model->split_points().empty());
  EXPECT_FALSE(model->split_points()[0].legal);
  EXPECT_THAT(model->split_points()[0].reason, HasSubstr("seen"));
  EXPECT_TRUE(model->graph().operators[0].uses_random) << "hidden state";
}

TEST(ModelExamine, KnowsWhatWasSavedInTrainingMode) {
  torch::jit::Module module("__torch__.Training");
  module.register_buffer("mean", torch::zeros({4}));
  module.register_buffer("var", torch::ones({4}));
  module.define(R"(
def forward(self, x):
    x = torch.dropout(x, 0.5, False)
    x = torch.dropout(x, 0.0, True)
    x = torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False)
    x = torch.batch_norm(x, None, None, self.mean, self.var, False, 0.1, 1e-5, False)
    x = torch.relu(x)
    x = torch.dropout(x, 0.5, True)
    return torch.batch_norm(x, None, None, self.mean, self.var, True, 0.1, 1e-5, False)
)");
  const auto model = open(module, "4x2");
  ASSERT_TRUE(model) << model.error().message;
  std::vector<std::string> training;
  for (const Operator& op : model->graph().operators) {
    if (op.trains) training.push_back(op.kind);
  }
  EXPECT_THAT(training, ElementsAre("aten::dropout", "aten::batch_norm"));
}

TEST(ModelExamine, ControlFlowIsOneOperator) {
  const auto model = open(scripted("Branch", R"(
def forward(self, x):
    y = torch.relu(x)
    if bool(y.sum() > 1e9):
        y = y.matmul(torch.ones([4, 4])) + 1
    else:
        y = y.matmul(torch.ones([4, 4]))
    return torch.sigmoid(y)
)"),
                          "4");
  ASSERT_TRUE(model) << model.error().message;
  bool found = false;
  for (const Operator& op : model->graph().operators) {
    if (op.kind != "prim::If") continue;
    found = true;
    EXPECT_GE(op.inner_operators, 3);
    EXPECT_DOUBLE_EQ(op.flops_per_sample, 2 * 4 * 4) << "of the branch that ran";
  }
  EXPECT_TRUE(found);
}

TEST(ModelExamine, NoModuleEndsNextToABranchThatHoldsAll) {
  const auto model = open(scripted("Branch", R"(
def forward(self, x):
    if bool(x.sum() > 1e9):
        y = x.matmul(torch.ones([4, 4])) + 1
    else:
        y = x.matmul(torch.ones([4, 4]))
    return y
)"),
                          "4");
  ASSERT_TRUE(model) << model.error().message;
  const auto all = select_split_points(*model, "all");
  ASSERT_TRUE(all) << all.error().message;
  const auto modules = select_split_points(*model, "modules");
  ASSERT_TRUE(modules) << modules.error().message;
  EXPECT_EQ(*modules, *all) << "no module ends";
  const auto chosen = select_split_points(*model, "auto");
  ASSERT_TRUE(chosen) << chosen.error().message;
  for (const std::size_t i : *chosen) EXPECT_EQ(model->split_points()[i].tensors, 1);
}

TEST(ModelExamine, ABakedBatchLeavesShapesConstant) {
  const auto model = open(
      scripted("Baked", "def forward(self, x):\n    return torch.relu(x).reshape([1, 8]) + 1\n"),
      "2x4");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(spec_after(*model, 1).tensor.shape(1), (Shape{1, 8}));
}

TEST(ModelExamine, WrongShapesAreExplained) {
  const auto model = open(small_net(), "5x8x8");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(model.error().message, HasSubstr("batch 2 on float32[2x5x8x8]"));
  EXPECT_THAT(model.error().message, HasSubstr("channels"));
  const auto larger = open(small_net(), "3x9..12x9");
  ASSERT_FALSE(larger);
  EXPECT_THAT(larger.error().message,
              AllOf(HasSubstr("batch 2 on float32[2x3x12x9], because aten::linear (op "),
                    HasSubstr(") refuses L = 12: "), HasSubstr("(give the sizes of one sample")));
}

TEST(ModelExamine, ASizeThatIsRoundedUpIsNotTakenForLevel) {
  const auto model = open(scripted("Padded", R"(
def forward(self, x):
    n = (x.size(0) + 3) // 4 * 4
    y = torch.tanh(torch.constant_pad_nd(x, [0, 0, 0, n - x.size(0)]))
    return torch.relu(y)[:x.size(0)]
)"),
                          "4");
  ASSERT_TRUE(model) << model.error().message;
  const auto& points = model->split_points();
  const auto point = std::ranges::find_if(points, [&](const SplitPoint& one) {
    const auto at = static_cast<std::size_t>(one.position - 1);
    return model->graph().operators[at].kind == "aten::tanh";
  });
  ASSERT_NE(point, points.end());
  EXPECT_FALSE(point->legal);
  EXPECT_THAT(point->reason,
              AllOf(HasSubstr("is 12 at batch 9, and not 4"), HasSubstr("made by aten::")));
}

TEST(ModelExamine, ShapesMustBeGiven) {
  const test::Files files;
  auto flat = read_model(files.save(small_net(), "small"));
  ASSERT_TRUE(flat);
  const auto none = Model::examine(*flat, {});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("--input-shape"));
  const auto many = Model::examine(*flat, {{{3, 8, 8}, DType::kFloat32}, {{1}, DType::kFloat32}});
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, ErrorCode::kInvalidArgument);
}

TEST(ModelExamine, InputsWithDefaultsNeedNone) {
  const auto model = open(scripted("Optional", R"(
def forward(self, x, mask: Optional[Tensor]=None, scale: float=2.0):
    if mask is not None:
        x = x * mask
    return torch.relu(x) * scale
)"),
                          "4");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->graph().inputs.size(), 1U);
  EXPECT_THAT(test::kinds(model->graph()), ElementsAre("aten::relu", "aten::mul"));
  EXPECT_TRUE(model->run_whole(model->example_inputs(2, 0).value()));
}

TEST(ModelExamine, OnlyTensorsComeFromOutside) {
  const auto model =
      open(scripted("Int", "def forward(self, x, n: int):\n    return x + n\n"), "4;1");
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("int"));
}

}  // namespace
}  // namespace pareto::model
