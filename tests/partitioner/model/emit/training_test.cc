// Training in shards against an ordinary loop over the uncut module: losses, parameters and
// statistics have the same bits, however the model is cut.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/jit/runtime/profiling_graph_executor_impl.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <map>

#include "core/plan/training_order.h"
#include "partitioner/model/emit/emit.h"
#include "runtime/shard_runner.h"
#include "runtime/torch/convert.h"
#include "runtime/training/trainer.h"
#include "tests/partitioner/scripted.h"

namespace pareto::model {
namespace {

using ::testing::HasSubstr;

constexpr int kSteps = 6;
constexpr std::uint32_t kMicroBatches = 2;
constexpr std::int64_t kRows = 3;
constexpr double kRate = 0.05;

/// A norm that trains, two kinds of dropout, and one matrix that is used three times.
torch::jit::Module trained_module() {
  torch::manual_seed(7);
  torch::jit::Module module("__torch__.Trained");
  module.register_attribute("training", c10::BoolType::get(), true);
  module.register_parameter("conv", torch::randn({4, 2, 3, 3}) * 0.3, false);
  module.register_parameter("scale", torch::rand({4}) + 0.5, false);
  module.register_parameter("shift", torch::randn({4}), false);
  module.register_buffer("mean", torch::zeros({4}));
  module.register_buffer("variance", torch::ones({4}));
  module.register_parameter("mix", torch::randn({4, 4}) * 0.5, false);
  module.register_parameter("head", torch::randn({5, 4}) * 0.5, false);
  module.define(R"(
def forward(self, x):
    y = torch.conv2d(x, self.conv)
    y = torch.batch_norm(y, self.scale, self.shift, self.mean, self.variance, self.training, 0.1, 1e-5, True)
    y = torch.relu(y)
    y = torch.feature_dropout(y, 0.3, self.training)
    y = y.mean([2, 3])
    skip = y.matmul(self.mix)
    y = torch.tanh(skip)
    y = torch.dropout(y, 0.5, self.training)
    y = y.matmul(self.mix) + skip
    y = torch.tanh(y).matmul(self.mix)
    return y.matmul(self.head.t())
)");
  return module;
}

plan::Shard loss_shard(const std::string& code, const std::string& shapes = "5;") {
  const auto model = test::open(test::scripted("Loss", code), shapes);
  EXPECT_TRUE(model) << model.error().message;
  const auto shard =
      emit_shard(*model, 0, static_cast<std::int64_t>(model->graph().operators.size()));
  EXPECT_TRUE(shard) << shard.error().message;
  return *shard;
}

plan::Shard cross_entropy() {
  return loss_shard(
      "def forward(self, outputs, target):\n"
      "    return torch.nll_loss(torch.log_softmax(outputs, 1), target)\n",
      "5;scalar:int64");
}

struct Data {
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> targets;
};

Data make_data() {
  torch::manual_seed(11);
  Data data;
  for (int i = 0; i < kSteps * static_cast<int>(kMicroBatches); ++i) {
    data.inputs.push_back(torch::randn({kRows, 2, 6, 6}));
    data.targets.push_back(torch::randint(0, 5, {kRows}));
  }
  return data;
}

using State = std::map<std::string, at::Tensor>;

std::int64_t seed_of(std::size_t index) { return static_cast<std::int64_t>(1000 + index); }

/// The ordinary way: the module in training mode, LibTorch's loss and optimiser.
State train_uncut(const Data& data, std::vector<double>& losses, bool adamw) {
  // LibTorch's profiling executor would put formulas of its own in place of autograd's.
  torch::jit::getProfilingMode() = false;
  torch::jit::Module module = trained_module();
  module.train();
  std::vector<at::Tensor> parameters;
  for (const auto& parameter : module.parameters()) parameters.push_back(parameter);
  for (at::Tensor& parameter : parameters) parameter.requires_grad_(true);
  std::unique_ptr<torch::optim::Optimizer> optimiser;
  if (adamw) {
    optimiser = std::make_unique<torch::optim::AdamW>(
        parameters, torch::optim::AdamWOptions(kRate).weight_decay(0.01));
  } else {
    optimiser = std::make_unique<torch::optim::SGD>(
        parameters,
        torch::optim::SGDOptions(kRate).momentum(0.9).nesterov(true).weight_decay(1e-3));
  }
  for (std::size_t i = 0; i < data.inputs.size(); ++i) {
    torch::manual_seed(static_cast<std::uint64_t>(seed_of(i)));
    const at::Tensor outputs = module.forward({data.inputs[i]}).toTensor();
    const at::Tensor loss = at::nll_loss(at::log_softmax(outputs, 1), data.targets[i]);
    losses.push_back(loss.item<double>());
    (loss * (1.0 / kMicroBatches)).backward();
    if ((i + 1) % kMicroBatches != 0) continue;
    optimiser->step();
    for (at::Tensor& parameter : parameters) parameter.mutable_grad() = at::Tensor();
  }
  State state;
  for (const auto& entry : module.named_parameters()) state[entry.name] = entry.value.detach();
  for (const auto& entry : module.named_buffers()) state[entry.name] = entry.value;
  return state;
}

using Runners = std::vector<std::unique_ptr<runtime::ShardRunner>>;

/// Loads a trainer of each range between cuts.
Expected<Runners> load_stages(const Model& model, const std::vector<std::int64_t>& cuts,
                              const plan::TrainingSettings& settings) {
  std::vector<std::int64_t> ends = cuts;
  ends.push_back(static_cast<std::int64_t>(model.graph().operators.size()));
  std::vector<plan::Shard> shards;
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    PARETO_ASSIGN(plan::Shard shard, emit_shard(model, begin, end));
    shards.push_back(std::move(shard));
    begin = end;
  }
  Runners runners;
  for (std::size_t stage = 0; stage < shards.size(); ++stage) {
    auto training = std::make_shared<runtime::TrainingOptions>();
    training->settings = settings;
    training->settings.stage = static_cast<std::uint32_t>(stage);
    training->settings.stages = static_cast<std::uint32_t>(shards.size());
    for (const plan::WeightRef& weight : shards[stage].weights) {
      const auto has = [&](const plan::Shard& shard) {
        return std::ranges::find(shard.weights, weight.name, &plan::WeightRef::name) !=
               shard.weights.end();
      };
      const auto here = shards.begin() + static_cast<std::ptrdiff_t>(stage);
      const plan::TiedParameter tied{weight.name, std::any_of(shards.begin(), here, has),
                                     std::any_of(here + 1, shards.end(), has)};
      if (tied.earlier || tied.later) training->settings.tied.push_back(tied);
    }
    if (stage + 1 == shards.size()) training->loss = cross_entropy();
    runtime::RunnerOptions options;
    options.training = training;
    PARETO_ASSIGN(
        auto runner,
        runtime::load_runner(
            shards[stage], [&](const Digest& digest) { return model.weight(digest); }, options));
    runners.push_back(std::move(runner));
  }
  return runners;
}

Tensor value_of(const at::Tensor& tensor) { return *runtime::from_torch(tensor); }

/// Runs all passes of a step in the order of a pipeline, one after the other.
Expected<> run_step(const Runners& runners, const Data& data, std::size_t first,
                    std::vector<double>& losses) {
  for (std::uint32_t i = 0; i < kMicroBatches; ++i) {
    plan::Activations passing{{value_of(data.inputs[first + i])}, {}, seed_of(first + i)};
    for (std::size_t stage = 0; stage + 1 < runners.size(); ++stage) {
      PARETO_ASSIGN(passing, runners[stage]->trainer()->forward(i, passing));
    }
    PARETO_ASSIGN(const plan::Outcome outcome,
                  runners.back()->trainer()->forward_to_loss(
                      i, passing, {value_of(data.targets[first + i]), 1.0 / kMicroBatches}));
    losses.push_back(outcome.loss);
  }
  for (std::uint32_t i = 0; i < kMicroBatches; ++i) {
    plan::Gradients gradients;
    for (std::size_t stage = runners.size(); stage-- > 0;) {
      PARETO_ASSIGN(gradients, runners[stage]->trainer()->backward(i, std::move(gradients)));
    }
  }
  plan::StepCommand command;
  command.learning_rate = kRate;
  for (const auto& runner : runners) {
    PARETO_ASSIGN(command, runner->trainer()->step(std::move(command)));
  }
  return {};
}

Expected<State> state_of(const Runners& runners) {
  State state;
  for (const auto& runner : runners) {
    PARETO_ASSIGN(const auto tensors, runner->trainer()->state());
    for (const auto& [name, tensor] : tensors) {
      const at::Tensor held = runtime::to_torch(tensor).clone();
      const auto [entry, is_new] = state.emplace(name, held);
      EXPECT_TRUE(is_new || entry->second.equal(held)) << name << " differs between two stages";
    }
  }
  return state;
}

plan::TrainingSettings settings_of(bool adamw) {
  plan::TrainingSettings settings;
  settings.optimiser =
      adamw ? plan::Optimiser{.name = "adamw", .weight_decay = 0.01}
            : plan::Optimiser{.momentum = 0.9, .nesterov = true, .weight_decay = 1e-3};
  return settings;
}

void expect_equal(const State& actual, const State& expected) {
  for (const auto& [name, tensor] : expected) {
    const auto found = actual.find(name);
    ASSERT_NE(found, actual.end()) << name;
    EXPECT_TRUE(found->second.equal(tensor)) << name;
  }
}

class Cuts : public ::testing::TestWithParam<bool> {};

TEST_P(Cuts, TrainToTheBitsOfTheUncutModule) {
  const bool adamw = GetParam();
  const auto model = test::open(trained_module(), "2x6x6");
  ASSERT_TRUE(model) << model.error().message;
  const Data data = make_data();
  std::vector<double> expected_losses;
  const State expected = train_uncut(data, expected_losses, adamw);
  std::vector<std::vector<std::int64_t>> plans{{}};
  for (const SplitPoint& point : model->split_points()) {
    if (!point.reason.empty()) continue;
    plans.push_back({point.position});
  }
  ASSERT_GT(plans.size(), 8U);
  plans.push_back({plans[2][0], plans[5][0], plans[7][0]});
  for (const auto& cuts : plans) {
    SCOPED_TRACE(::testing::PrintToString(cuts));
    const auto runners = load_stages(*model, cuts, settings_of(adamw));
    ASSERT_TRUE(runners) << runners.error().message;
    std::vector<double> losses;
    for (int step = 0; step < kSteps; ++step) {
      const auto done =
          run_step(*runners, data, static_cast<std::size_t>(step) * kMicroBatches, losses);
      ASSERT_TRUE(done) << done.error().message;
    }
    EXPECT_EQ(losses, expected_losses);
    const auto state = state_of(*runners);
    ASSERT_TRUE(state) << state.error().message;
    expect_equal(*state, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Optimisers, Cuts, ::testing::Bool());

}  // namespace
}  // namespace pareto::model
