// Models of many traits, cut at every legal point: the same bits as the whole model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "partitioner/model/emit/verify.h"
#include "tests/partitioner/model/emit/tied.h"

namespace pareto::model {
namespace {

using test::open;
using test::scripted;
using test::tied;
using ::testing::HasSubstr;

/// Cuts at every legal point, at batches other than those the model was examined at, and expects
/// the same bits.
void expect_all_equal(const Model& model) {
  VerifyOptions options;
  options.batches = {1, 5};
  options.cuts =
      cuts_at(model.split_points(), select_split_points(model.split_points(), "all").value());
  options.runner.engine = "plain";
  const auto rows = verify(model, options, nullptr);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->size(), 2 * options.cuts.size());
  for (const VerifyRow& row : *rows) {
    EXPECT_TRUE(row.bit_equal) << model.name() << " at " << options.cuts[row.cut].name << ", batch "
                               << row.batch << ": " << row.failure << " " << row.relative_error;
  }
}

std::vector<std::string> reasons(const Model& model) {
  std::vector<std::string> all;
  for (const SplitPoint& point : model.split_points()) all.push_back(point.reason);
  return all;
}

TEST(CutEverywhere, TiedWeights) {
  const auto model = open(tied(), "4");
  ASSERT_TRUE(model) << model.error().message;
  expect_all_equal(*model);
}

TEST(CutEverywhere, ListsTuplesDictsNumbersAndStrings) {
  const auto model = open(scripted("Tree", R"(
def forward(self, x, y):
    sizes = [x.size(0), x.size(1)]
    parts = torch.split(x, 2, 1)
    table = {"first": torch.relu(parts[0]), "second": parts[1]}
    name = "first"
    if bool(y.sum() > 0):
        name = "second"
    empty: List[Tensor] = []
    pair = (table[name] + y.sum(), float(y.size(0)))
    for part in parts:
        empty.append(torch.sigmoid(part))
    joined = torch.cat(empty, 1)
    return {"out": joined.reshape([sizes[0], sizes[1], 3]) + 1, "pair": pair[0] * pair[1], "table": table[name]}
)"),
                          "4x3;2");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_GT(model->split_points().size(), 10U);
  expect_all_equal(*model);
}

TEST(CutEverywhere, DictsAndListsThatAreFilledOnTheWay) {
  // Entries that are written in place afterwards, a dict that is read between its fillings, a list
  // that a branch fills.
  const auto model = open(scripted("Filled", R"(
def forward(self, x):
    features: Dict[str, Tensor] = {}
    y = torch.relu(x)
    features["early"] = y
    z = torch.sigmoid(y)
    y.add_(1.0)
    features["late"] = y + z
    seen: Dict[str, Tensor] = {}
    seen["a"] = torch.tanh(z)
    count = len(seen)
    w = torch.exp(z) * count
    seen["b"] = w.mul_(2.0)
    rows: List[Tensor] = []
    if bool(x.sum() > 0):
        rows.append(torch.neg(z))
    rows.append(z)
    u = torch.sin(w)
    rows.append(u)
    return features, seen["a"] + seen["b"], torch.stack(rows), u
)"),
                          "4");
  ASSERT_TRUE(model) << model.error().message;
  expect_all_equal(*model);
  // What crosses is counted: between the first and the second entry of `features` its tensors cross
  // for themselves.
  const auto kinds = test::kinds(model->graph());
  const auto after = [&](const char* kind) {
    return static_cast<std::size_t>(std::ranges::find(kinds, kind) - kinds.begin());
  };
  ASSERT_LT(after("aten::relu"), kinds.size());
  EXPECT_TRUE(model->split_points()[after("aten::relu")].legal);
  EXPECT_THAT(kinds, ::testing::Not(::testing::Contains("aten::_set_item")))
      << "what is read from a dict between its fillings is its value";
}

TEST(CutEverywhere, LoopsAndBranchesThatStay) {
  const auto model = open(scripted("Control", R"(
def forward(self, x):
    y = torch.relu(x) + 0.5
    i = 0
    while bool(y.sum() < 1000.0) and i < 20:
        y = y * 2
        i += 1
    state: Optional[Tensor] = None
    if i > 3:
        state = y + i
    z = torch.tanh(y)
    if state is not None:
        z = z + state
    return z, i
)"),
                          "8");
  ASSERT_TRUE(model) << model.error().message;
  expect_all_equal(*model);
}

TEST(CutEverywhere, WritesInPlace) {
  const auto model = open(scripted("InPlace", R"(
def forward(self, x):
    base = torch.relu(x)
    view = base[:, 0:2]
    other = torch.sigmoid(x)
    view.fill_(3.0)
    other[:, 1:3].copy_(base[:, 0:2])
    other.add_(1.0)
    return base + other, view
)"),
                          "4");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_LT(select_split_points(model->split_points(), "all")->size(),
            model->split_points().size());
  expect_all_equal(*model);
}

TEST(CutEverywhere, WritesGoOnlyWhereTheTypeStays) {
  torch::jit::Module module("__torch__.Promoting");
  module.register_buffer("offset", torch::full({4}, 0.1, torch::kDouble));
  module.define(R"(
def forward(self, x):
    y = torch.relu(x)
    y.gt_(0.5)
    z = torch.sigmoid(x)
    z.sub_(self.offset)
    w = torch.tanh(x)
    w.add_(x).mul_(2.0)
    return y + y, z + z, w
)");
  const auto model = open(module, "4");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(test::kinds(model->graph()),
              ::testing::IsSupersetOf({"aten::gt_", "aten::sub_", "aten::add", "aten::mul"}));
  EXPECT_THAT(test::kinds(model->graph()),
              ::testing::Not(::testing::AnyOf(::testing::Contains("aten::add_"),
                                              ::testing::Contains("aten::mul_"))));
  expect_all_equal(*model);
}

TEST(CutEverywhere, TensorsThatChangeTheirShapeInPlace) {
  const auto model = open(scripted("Reshaped", R"(
def forward(self, x):
    y = torch.relu(x)
    z = y[:, 0:2]
    y.unsqueeze_(1)
    w = torch.sigmoid(z)
    return torch.tanh(y), w
)"),
                          "4");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(reasons(*model), ::testing::Contains(HasSubstr("changes its shape in place")));
  expect_all_equal(*model);
}

TEST(CutEverywhere, ViewsInsideAListAreNotCutThrough) {
  const auto model = open(scripted("Parts", R"(
def forward(self, x):
    parts = torch.chunk(torch.relu(x).permute([0, 3, 1, 2]), 2, 1)
    return parts[1].transpose(2, 3).sum([1, 2])
)"),
                          "31x31x8");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(reasons(*model), ::testing::Contains(HasSubstr("holds views")));
  expect_all_equal(*model);
}

TEST(CutEverywhere, WeightsThatAreWrittenInPlace) {
  // Two weights of the same bytes, one of them written.
  torch::jit::Module module("__torch__.Counting");
  module.register_buffer("count", torch::zeros({4}));
  module.register_buffer("offset", torch::zeros({4}));
  module.define(R"(
def forward(self, x):
    y = torch.relu(x)
    self.count.add_(1.0)
    z = torch.sigmoid(y) * self.count
    return torch.tanh(z + self.offset)
)");
  const auto model = open(module, "4");
  ASSERT_TRUE(model) << model.error().message;
  expect_all_equal(*model);
  for (const Digest& digest : model->weight_digests()) {
    EXPECT_EQ(sha256(model->weight(digest)->bytes()), digest) << "what is sent is what was named";
  }
}

TEST(CutEverywhere, TransposedViewsKeepTheirStrides) {
  const auto model = open(test::transposed_views(), "31x31x7");
  ASSERT_TRUE(model) << model.error().message;
  bool transposed = false;
  for (const GraphValue& value : model->graph().values)
    transposed |= value.layout != MemoryLayout{};
  EXPECT_TRUE(transposed);
  expect_all_equal(*model);
}

TEST(CutEverywhere, ExpandedViewsKeepTheirStrides) {
  // What repeats outermost, in the middle, innermost, and of a transposed slice: sigmoid takes
  // another path over memory that repeats than over dense memory.
  const auto model = open(scripted("Expanded", R"(
def forward(self, x):
    y = torch.relu(x)
    a = torch.sigmoid(y.transpose(1, 3)[:, ::2].expand(2, -1, -1, -1, -1))
    b = torch.sigmoid(y.unsqueeze(2).expand(-1, -1, 3, -1, -1))
    c = torch.sigmoid(y.unsqueeze(-1).expand(-1, -1, -1, -1, 5))
    return a.sum([0]), b, c
)"),
                          "4x6x6");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(std::ranges::count_if(model->graph().values,
                                  [](const auto& value) { return !value.layout.repeated.empty(); }),
            3);
  expect_all_equal(*model);
}

TEST(CutEverywhere, AnInputThatIsReturned) {
  const auto model =
      open(scripted("Pass", "def forward(self, x):\n    return torch.relu(x) + 1, x\n"), "4");
  ASSERT_TRUE(model) << model.error().message;
  expect_all_equal(*model);
}

}  // namespace
}  // namespace pareto::model
