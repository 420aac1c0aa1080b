#include "partitioner/model/emit/trained_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <algorithm>

#include "partitioner/model/zoo/checkpoint.h"
#include "partitioner/model/zoo/model_builder.h"
#include "runtime/torch/convert.h"
#include "tests/partitioner/model/emit/tied.h"
#include "tests/support/process.h"

namespace pareto::model {
namespace {

using testing::HasSubstr;

class TrainedModelTest : public testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

  /// Returns what Python printed.
  std::string python(const std::string& script) const {
    // A file, because TorchScript reads the source of modules.
    const std::filesystem::path file = path("script.py");
    EXPECT_TRUE(write_file_atomically(
        file, "import torch\nfolder = '" + folder_.path().string() + "'\n" + script));
    const auto ran = test::run({"/usr/bin/python3", file.string()});
    EXPECT_EQ(ran.exit_code, 0) << "python3-torch must be installed: " << ran.errors;
    return ran.output;
  }

  static Model open_builtin(const std::string& weights = "") {
    zoo::ModelOptions options;
    options.num_classes = 5;
    options.input = std::vector{image()};
    options.weights = weights;
    auto model = zoo::open_model("resnet18", options);
    EXPECT_TRUE(model) << model.error().message;
    return *std::move(model);
  }
  static Expected<Model> open_file(const std::string& file, const char* shapes) {
    zoo::ModelOptions options;
    options.input = parse_input_shapes(shapes).value();
    return zoo::open_model(file, options);
  }
  static InputShape image() { return parse_input_shapes("3x32x32").value().front(); }

  /// Returns the model's state, with a little more in every tensor of floats.
  static std::vector<plan::StateTensor> changed(const Model& model) {
    std::vector<plan::StateTensor> state;
    for (const FlatWeight& weight : model.flat().weights) {
      if (!weight.in_state_dict || !weight.tensor.is_floating_point()) continue;
      const at::Tensor more = weight.tensor.detach() * 1.25 + 0.01;
      state.push_back({weight.name, runtime::from_torch(more).value()});
      state.push_back(
          {"optimiser/" + weight.name + "/momentum_buffer", runtime::from_torch(more).value()});
    }
    return state;
  }

  static Value run(const Model& model, const Value& input) {
    const auto outputs = model.run_whole({input});
    EXPECT_TRUE(outputs) << outputs.error().message;
    return outputs->front();
  }

  TemporaryFolder folder_ = TemporaryFolder::create("pareto-trained-test").value();
};

const Tensor* named(const NamedTensors& state, const std::string& name) {
  const auto found = std::ranges::find(state, name, &NamedTensors::value_type::first);
  return found == state.end() ? nullptr : &found->second;
}

std::int64_t number_in(const Tensor& tensor) {
  std::int64_t number = 0;
  EXPECT_EQ(tensor.size_bytes(), sizeof number);
  std::memcpy(&number, tensor.bytes().data(), sizeof number);
  return number;
}

TEST_F(TrainedModelTest, BothFilesOfABuiltInModelGiveTheSameBits) {
  const Model model = open_builtin();
  const Value input = model.example_inputs(2, 7).value().front();
  const auto state = trained_state(model, changed(model), 42);
  ASSERT_TRUE(state) << state.error().message;
  ASSERT_TRUE(write_torchscript(path("trained.pt"), model, *state));
  ASSERT_TRUE(zoo::write_checkpoint(path("trained.pth"), *state));

  const Model by_weights = open_builtin(path("trained.pth"));
  const auto whole = open_file(path("trained.pt"), "3x32x32");
  ASSERT_TRUE(whole) << whole.error().message;
  const Value expected = run(by_weights, input);
  EXPECT_FALSE(bit_equal(expected, run(model, input)));
  EXPECT_TRUE(bit_equal(expected, run(*whole, input)));
  // Its weights have the model's names.
  ASSERT_EQ(whole->graph().weights.size(), model.graph().weights.size());
  for (const GraphWeight& weight : model.graph().weights) {
    const auto found = std::ranges::find(whole->graph().weights, weight.name, &GraphWeight::name);
    ASSERT_NE(found, whole->graph().weights.end()) << weight.name;
    EXPECT_EQ(found->is_trainable, weight.is_trainable) << weight.name;
  }
}

TEST_F(TrainedModelTest, PythonReadsBothFiles) {
  const Model model = open_builtin();
  const auto state = trained_state(model, changed(model), 42);
  ASSERT_TRUE(state) << state.error().message;
  ASSERT_TRUE(write_torchscript(path("trained.pt"), model, *state));
  ASSERT_TRUE(zoo::write_checkpoint(path("trained.pth"), *state));
  EXPECT_EQ(python(R"(
import torchvision
state = torch.load(folder + '/trained.pth')
net = torchvision.models.resnet18(num_classes=5)
assert list(state) == list(net.state_dict()), 'names'
net.load_state_dict(state)
net.eval()
script = torch.jit.load(folder + '/trained.pt')
assert not script.training
assert getattr(script.layer1, '0').conv1.weight.requires_grad
x = torch.rand(2, 3, 32, 32)
assert torch.allclose(script(x), net(x), atol=1e-4), 'outputs'
parameters = dict(script.named_parameters())
assert set(parameters) == set(dict(net.named_parameters())), 'parameters'
assert all(p.requires_grad for p in parameters.values())
assert all(torch.equal(parameters[n], state[n]) for n in parameters), 'bits'
print(int(state['bn1.num_batches_tracked']), end='')
)"),
            "42");
}

TEST_F(TrainedModelTest, AFileKeepsItsModuleAndCountsItsBatches) {
  python(R"(
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))
        self.frozen = torch.nn.BatchNorm1d(4)
        self.b = torch.nn.Linear(4, 3)
        self.unused = torch.nn.Linear(2, 2)
    def forward(self, x):
        return self.b(torch.relu(self.frozen(self.a(x))))
torch.manual_seed(1)
net = Net()
for _ in range(3): net(torch.rand(5, 4))
torch.jit.script(net).save(folder + '/net.pt')
)");
  const auto model = open_file(path("net.pt"), "4");
  ASSERT_TRUE(model) << model.error().message;
  auto changes = changed(*model);
  std::erase_if(changes, [](const auto& one) { return one.name.starts_with("frozen."); });
  const auto state = trained_state(*model, changes, 10);
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_EQ(number_in(*named(*state, "a.1.num_batches_tracked")), 13);
  EXPECT_EQ(number_in(*named(*state, "frozen.num_batches_tracked")), 3);
  ASSERT_NE(named(*state, "unused.weight"), nullptr);
  ASSERT_TRUE(write_torchscript(path("trained.pt"), *model, *state));
  ASSERT_TRUE(zoo::write_checkpoint(path("trained.pth"), *state));
  EXPECT_EQ(python(R"(
net = torch.jit.load(folder + '/trained.pt')
before = torch.jit.load(folder + '/net.pt')
state = torch.load(folder + '/trained.pth')
assert list(net.state_dict()) == list(before.state_dict()) and set(state) == set(net.state_dict())
assert all(torch.equal(state[n], t) for n, t in net.state_dict().items())
assert torch.equal(state['b.bias'], before.b.bias * 1.25 + 0.01)
assert not torch.equal(before.b.bias, net.b.bias) and torch.equal(before.unused.bias, net.unused.bias)
net.train()
net(torch.rand(5, 4))
print(int(net.state_dict()['a.1.num_batches_tracked']), end='')
)"),
            "14");
}

TEST_F(TrainedModelTest, AllNamesOfATiedWeightChange) {
  const auto model = test::open(test::tied(), "4");
  ASSERT_TRUE(model) << model.error().message;
  const auto state = trained_state(*model, changed(*model), 0);
  ASSERT_TRUE(state) << state.error().message;
  ASSERT_NE(named(*state, "encoder"), nullptr);
  ASSERT_NE(named(*state, "decoder"), nullptr);
  EXPECT_TRUE(bit_equal(*named(*state, "encoder"), *named(*state, "decoder")));
  ASSERT_TRUE(zoo::write_checkpoint(path("tied.pth"), *state));
  EXPECT_EQ(python("state = torch.load(folder + '/tied.pth')\n"
                   "print(state['encoder'].data_ptr() == state['decoder'].data_ptr(), end='')"),
            "True");
}

TEST_F(TrainedModelTest, StateOfAnotherModelIsRefused) {
  const Model model = open_builtin();
  const auto refusal = [&](const std::string& name, const Tensor& tensor) {
    const auto state = trained_state(model, {{name, tensor}}, 0);
    return state ? std::string("taken") : state.error().message;
  };
  EXPECT_THAT(refusal("fc.weigth", Tensor()), HasSubstr("has no \"fc.weigth\" (did you mean"));
  EXPECT_THAT(refusal("fc.weight", Tensor()), HasSubstr("5x512"));
  EXPECT_THAT(refusal("fc.bias", Tensor::allocate(DType::kFloat64, {5}).value()),
              HasSubstr("float64"));
}

TEST_F(TrainedModelTest, AFolderThatIsNotThereIsNamed) {
  const Model model = open_builtin();
  const auto state = trained_state(model, {}, 0);
  ASSERT_TRUE(state) << state.error().message;
  for (const auto& written : {write_torchscript(path("no/model.pt"), model, *state),
                              zoo::write_checkpoint(path("no/model.pth"), *state)}) {
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::kNotFound);
    EXPECT_THAT(written.error().message, HasSubstr("no/model.pt"));
  }
}

}  // namespace
}  // namespace pareto::model
