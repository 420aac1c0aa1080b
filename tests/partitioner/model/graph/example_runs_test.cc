// Models that run at some batches only, whose batch is not the first dimension, or whose integers
// may not be zero.
#include "partitioner/model/graph/example_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

#include "partitioner/model/graph/split_points.h"
#include "tests/partitioner/scripted.h"

namespace pareto::model {
namespace {

using test::open;
using test::scripted;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns a module that is fixed at that batch, as a trace is.
torch::jit::Module fixed_at(int batch) {
  return scripted("Fixed", fmt::format("def forward(self, x):\n"
                                       "    y = torch.relu(x).view([{}, 6])\n"
                                       "    return torch.sigmoid(y).sum([1])\n",
                                       batch));
}

Expected<Model> open_at(const torch::jit::Module& module, const std::string& shapes,
                        const std::vector<std::int64_t>& batches) {
  const test::Files files;
  PARETO_ASSIGN(Flat flat, read_model(files.save(module, "model")));
  PARETO_ASSIGN(auto inputs, parse_input_shapes(shapes));
  return Model::examine(std::move(flat), std::move(inputs), batches);
}

std::string spec(const Model& model, std::int64_t value) {
  return model.graph().values[static_cast<std::size_t>(value)].spec.describe();
}

TEST(Batches, AModelRunsAtTheOneThatIsNamed) {
  const auto model = open_at(fixed_at(5), "6", {5});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->only_batch(), 5);
  EXPECT_EQ(spec(*model, model->graph().inputs.front()), "float32[5x6]");
  EXPECT_TRUE(model->run_whole(model->example_inputs(5, 0).value()));
}

TEST(Batches, UsualExportSizesAreFound) {
  const auto model = open_at(fixed_at(8), "6", {});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->only_batch(), 8);
  const auto unusual = open_at(scripted("Picky",
                                        "def forward(self, x):\n"
                                        "    return torch.relu(x).view([7, -1])\n"),
                               "6", {});
  ASSERT_FALSE(unusual);
  EXPECT_THAT(unusual.error().message, HasSubstr("does not run at batch 2 on float32[2x6]"));
}

TEST(Batches, AConstantOneIsConcludedFromWhatLibTorchSays) {
  for (const int batch : {2, 3, 7, 50}) {
    const auto model = open_at(fixed_at(batch), "6", {});
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->only_batch(), batch);
    EXPECT_EQ(spec(*model, model->graph().inputs.front()), fmt::format("float32[{}x6]", batch));
  }
  const auto added = open_at(scripted("Added",
                                      "def forward(self, x):\n"
                                      "    return torch.relu(x) + torch.ones([9, 1])\n"),
                             "6", {});
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(added->only_batch(), 9);
}

/// Returns a model in which a value that depends on the batch in that way crosses a cut.
Expected<Model> open_with(const std::string& rows) {
  return open(scripted("Grows", "def forward(self, x):\n    b = x.size(0)\n    y = " + rows +
                                    "\n    return torch.relu(y), torch.relu(x)\n"),
              "6");
}

/// Returns the reasons of the positions that are not allowed.
std::string reasons_of(const Model& model) {
  std::string reasons;
  for (const SplitPoint& point : model.split_points()) reasons += point.reason + "\n";
  return reasons;
}

TEST(Batches, SizesAreMultiplesOfTheBatchAndAConstant) {
  const auto grows = open_with("torch.sigmoid(torch.cat([x, x, x[:1]]))");
  ASSERT_TRUE(grows) << grows.error().message;
  bool is_affine = false;
  for (const GraphValue& value : grows->graph().values) {
    is_affine = is_affine || value.spec.describe() == "float32[2B+1x6]";
  }
  EXPECT_TRUE(is_affine);
  EXPECT_THAT(reasons_of(*grows), Not(HasSubstr("at batch")));
}

TEST(Batches, SizesThatAreNoSuchMultiplesDoNotCross) {
  // A square, half of it, and at most three: the last two look as constants at batches 2 and 3.
  for (const char* rows : {"torch.zeros([b * b, 6])", "torch.zeros([(b + 1) // 2 + 1, 6])",
                           "torch.zeros([b // 2, 6])", "torch.zeros([min(b, 3), 6])"}) {
    const auto model = open_with(rows);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_THAT(reasons_of(*model), HasSubstr("(made by ")) << rows;
    EXPECT_THAT(reasons_of(*model), HasSubstr("would cross")) << rows;
    // Around them it is cut.
    EXPECT_TRUE(model->run_whole(model->example_inputs(9, 0).value()));
  }
}

/// Returns the error that somebody reads who opens the model with those shapes.
std::string refusal(const torch::jit::Module& module, const std::string& shapes) {
  const auto model = open_at(module, shapes, {});
  return model ? "" : model.error().message;
}

TEST(Batches, WhatLibTorchSaysComesWithARemedy) {
  const auto image = scripted("Image",
                              "def forward(self, x):\n"
                              "    w = torch.ones([4, 3, 3, 3])\n"
                              "    return torch.conv2d(x, w)\n");
  EXPECT_THAT(refusal(image, "1x3x8x8"), HasSubstr("leave it out: --input-shape 3x8x8)"));
  EXPECT_THAT(refusal(image, "2x8x8"), Not(HasSubstr("leave it out")));
  const auto words = scripted("Words",
                              "def forward(self, x):\n"
                              "    return torch.embedding(torch.ones([100, 4]), x)\n");
  EXPECT_THAT(refusal(words, "32"), HasSubstr("--input-shape 32:int64)"));
  EXPECT_THAT(refusal(words, "32:int64=0..9999"), HasSubstr("--input-shape 32:int64=0..999)"));
  EXPECT_EQ(refusal(words, "32:int64=0..99"), "");
}

TEST(Batches, InputsAreNamedAsInTheCode) {
  const auto two = scripted("Two",
                            "def forward(self, rgb, depth):\n"
                            "    return torch.relu(rgb).view([-1, 12]) + depth.view([-1, 12])\n");
  EXPECT_THAT(refusal(two, "12"), HasSubstr("no shape for depth;"));
  EXPECT_THAT(refusal(two, "12;7"), HasSubstr("on rgb = float32[2x12] and depth = float32[2x7]"));
}

TEST(Batches, OneThatRunsAtSeveralHasNoOnlyOne) {
  const auto model =
      open_at(scripted("Any", "def forward(self, x):\n    return x + 1\n"), "6", {5});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->only_batch(), std::nullopt);
}

TEST(Batches, MultiplesMayBeTaken) {
  const auto model = open_at(scripted("Clips",
                                      "def forward(self, x):\n"
                                      "    return torch.relu(x).view([-1, 5, 6]).mean([1])\n"),
                             "6", {5});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->only_batch(), std::nullopt);
  EXPECT_TRUE(model->run_whole(model->example_inputs(15, 0).value()));
}

TEST(Batches, OfTheDataAreTried) {
  const auto module = scripted("FourOrOne",
                               "def forward(self, x):\n"
                               "    return torch.relu(x) + torch.zeros([5, 6])\n");
  const test::Files files;
  Tensor data = Tensor::allocate(DType::kFloat32, {5, 6}).value();
  std::memset(data.mutable_bytes().data(), 0, data.size_bytes());
  auto inputs = with_data({}, {data}, {"data.npy"}).value();
  const auto model =
      Model::examine(read_model(files.save(module, "model")).value(), std::move(inputs));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->only_batch(), 5);
}

TEST(Batches, StandWhereTheShapeSaysSo) {
  const auto model = open(scripted("Recurrent",
                                   "def forward(self, x, h, mask):\n"
                                   "    y = torch.relu(x).sum([1])\n"
                                   "    z = y.matmul(mask)\n"
                                   "    return z + h.sum([0]), torch.tanh(h)\n"),
                          "Bx5x6;2xBx6;6x6");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(spec(*model, model->graph().inputs[1]), "float32[2xBx6]");
  EXPECT_EQ(spec(*model, model->graph().inputs[2]), "float32[6x6]");
  EXPECT_EQ(spec(*model, model->graph().outputs[0]), "Tuple[float32[Bx6], float32[2xBx6]]");
  EXPECT_EQ(model->only_batch(), std::nullopt);
}

TEST(Batches, NoneAtAllIsOne) {
  const auto model =
      open(scripted("Edges", "def forward(self, x):\n    return torch.relu(x).t()\n"), "[2x7]");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->only_batch(), 1);
  EXPECT_EQ(spec(*model, model->graph().outputs[0]), "float32[7x2]");
}

/// Refuses zeros, as packing sequences of no length does.
torch::jit::Module no_zeros() {
  return scripted("NoZeros", R"(
def forward(self, x, n):
    m = torch.clamp(n * 2, min=0)
    assert bool((m > 0).all())
    return (torch.relu(x) / m.unsqueeze(1)).sum([1])
)");
}

TEST(Batches, IntegersAreDrawnFromTheirRange) {
  const auto zeros = open(no_zeros(), "4;scalar:int64");
  ASSERT_FALSE(zeros);
  EXPECT_THAT(zeros.error().message, HasSubstr("example integers are zeros"));
  EXPECT_THAT(zeros.error().message, HasSubstr("--input FILE.npy"));
  const auto model = open(no_zeros(), "4;scalar:int64=3..9");
  ASSERT_TRUE(model) << model.error().message;
  const Graph& graph = model->graph();
  EXPECT_EQ(graph.values[static_cast<std::size_t>(graph.inputs[1])].spec.range,
            (IntegerRange{3, 9}));
  // Devices make examples of what crosses a cut, too.
  for (const SplitPoint& point : model->split_points()) {
    if (!point.legal) continue;
    for (const plan::BoundaryValue& value : boundary(graph, point.position)) {
      if (value.spec.kind != ValueSpec::Kind::kTensor) continue;
      if (value.spec.tensor.dtype != DType::kInt64) continue;
      ASSERT_TRUE(value.spec.range) << point.name << ": " << value.name;
      EXPECT_GE(value.spec.range->low, 3) << point.name << ": " << value.name;
    }
  }
}

/// Returns a tensor of whole numbers with a batch of as many as it holds.
Tensor whole_numbers(const std::vector<std::int64_t>& numbers) {
  Tensor tensor =
      Tensor::allocate(DType::kInt64, {static_cast<std::int64_t>(numbers.size())}).value();
  std::memcpy(tensor.mutable_bytes().data(), numbers.data(), tensor.size_bytes());
  return tensor;
}

TEST(Batches, DevicesSeeNoIntegersButThoseOfTheData) {
  // Of the negative numbers the model knows one.
  const auto module = scripted("Labels", R"(
def forward(self, x):
    y = torch.where(x == -100, torch.zeros_like(x), x)
    z = y + 1
    return torch.relu(torch.eye(10)[z].sum([1]))
)");
  const test::Files files;
  auto inputs = with_data({}, {whole_numbers({-100, 8, 3})}, {"labels.npy"}).value();
  const auto model =
      Model::examine(read_model(files.save(module, "model")).value(), std::move(inputs));
  ASSERT_TRUE(model) << model.error().message;
  const Graph& graph = model->graph();
  EXPECT_EQ(graph.values[static_cast<std::size_t>(graph.inputs[0])].spec.sample,
            (std::vector<std::int64_t>{-100, 8, 3}));
  std::set<std::int64_t> seen;
  for (const SplitPoint& point : model->split_points()) {
    if (!point.legal) continue;
    for (const plan::BoundaryValue& value : boundary(graph, point.position)) {
      if (value.spec.kind != ValueSpec::Kind::kTensor) continue;
      if (value.spec.tensor.dtype != DType::kInt64) continue;
      const Value example = make_example(value.spec, 7, 1).value();
      std::vector<std::int64_t> numbers(7);
      std::memcpy(numbers.data(), example.get_if<Tensor>()->bytes().data(), 7 * 8);
      for (const std::int64_t number : numbers) seen.insert(number);
    }
  }
  EXPECT_THAT(seen, ::testing::IsSubsetOf({-100, 0, 8, 3, 1, 9, 4}));
  EXPECT_THAT(seen, ::testing::Contains(9));
}

TEST(Attempts, BeginWithTwoBatchesAndEndWithUsualOnes) {
  const auto shapes = parse_input_shapes("3x8").value();
  const std::vector<Attempt> usual{{1}, {4}, {8}, {16}, {32}};
  std::vector<Attempt> expected{{2, 3}, {1, 2}};
  expected.insert(expected.end(), usual.begin(), usual.end());
  EXPECT_EQ(attempts(shapes, {}), expected);
  expected = {{2, 3}, {1, 2}, {5, 10}, {5}, {7, 14}, {7}};
  expected.insert(expected.end(), usual.begin(), usual.end());
  EXPECT_EQ(attempts(shapes, {5, 7}), expected);
  EXPECT_EQ(attempts(parse_input_shapes("[3x8]").value(), {5}), (std::vector<Attempt>{{1}}))
      << "no input has a batch";
}

/// Returns what a run notes of one value.
ExampleRun noted(const c10::IValue& value, bool knows_ranges, bool is_of_data) {
  ExampleRun run;
  run.seen.assign(1, Value());
  run.layouts.resize(1);
  run.reasons.resize(1);
  run.ranges.resize(1);
  run.samples.resize(1);
  run.knows_ranges = knows_ranges;
  run.is_of_data = is_of_data;
  run.see(0, value);
  return run;
}

TEST(ExampleRun, NotesTheRangeAndTheFirstElementsOfIntegers) {
  const at::Tensor numbers = torch::tensor({{5, -3}, {0, 9}});
  const ExampleRun all = noted(numbers.t(), true, true);
  ASSERT_TRUE(all.ranges[0]);
  EXPECT_EQ(all.ranges[0]->low, -3);
  EXPECT_EQ(all.ranges[0]->high, 9);
  EXPECT_EQ(all.samples[0], (std::vector<std::int64_t>{5, 0, -3, 9})) << "row by row";
  EXPECT_FALSE(noted(numbers, false, true).ranges[0]);
  EXPECT_TRUE(noted(numbers, true, false).samples[0].empty());
  EXPECT_EQ(noted(torch::tensor({true, false}), true, true).ranges[0]->high, 1);
}

TEST(ExampleRun, OtherValuesHaveNeither) {
  for (const c10::IValue& value :
       {c10::IValue(at::ones({2})), c10::IValue(at::zeros({0}, at::kLong)), c10::IValue(7),
        c10::IValue(), c10::IValue(at::Tensor()), c10::IValue("text"),
        c10::IValue(c10::List<at::Tensor>({at::ones({1}, at::kLong)}))}) {
    const ExampleRun run = noted(value, true, true);
    EXPECT_FALSE(run.ranges[0]) << value.tagKind();
    EXPECT_TRUE(run.samples[0].empty()) << value.tagKind();
  }
}

TEST(ExampleRun, AValueThatCannotTravelSaysWhy) {
  const ExampleRun run = noted(c10::Device("cpu"), true, true);
  EXPECT_FALSE(run.seen[0]);
}

}  // namespace
}  // namespace pareto::model
