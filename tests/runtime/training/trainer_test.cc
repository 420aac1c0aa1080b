#include "runtime/training/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/hand_made_shard.h"

namespace pareto::runtime {
namespace {

using plan::Activations;
using plan::Gradients;
using testing::HasSubstr;

Tensor tensor_of(const at::Tensor& tensor) { return from_torch(tensor).value(); }
at::Tensor rows() { return torch::tensor({{1.F, 2.F, 3.F}, {4.F, 5.F, 6.F}}); }
at::Tensor labels() { return torch::tensor({0, 2}); }

test::HandMadeShard multiplies() {
  test::HandMadeShard shard;
  shard.weight("w", torch::ones({3, 3}))
      .input("x", tensor_of(rows()))
      .code("def run(self, x):\n    return (x.matmul(self.w),)\n");
  return shard;
}

plan::Shard loss_of(const std::string& expression) {
  test::HandMadeShard shard;
  shard.input("outputs", tensor_of(rows()))
      .input("target", tensor_of(labels()))
      .code("def run(self, outputs, target: Tensor):\n    return (" + expression + ",)\n");
  return shard.shard();
}

struct Loaded {
  std::unique_ptr<ShardRunner> runner;
  Trainer* operator->() const { return runner->trainer(); }
};

Expected<Loaded> load(test::HandMadeShard shard, std::optional<plan::Shard> loss = std::nullopt,
                      plan::TrainingSettings settings = {}) {
  auto training = std::make_shared<TrainingOptions>();
  training->settings = std::move(settings);
  training->loss = std::move(loss);
  RunnerOptions options;
  options.training = std::move(training);
  PARETO_ASSIGN(auto runner, shard.load(options));
  return Loaded{std::move(runner)};
}

Activations input(bool wanted = false) { return {{tensor_of(rows())}, {wanted}, None{}}; }

Gradients ones_back() { return {{tensor_of(torch::ones({2, 3}))}, {}, {}}; }

std::string error_of(const auto& result) { return result ? "none" : result.error().message; }

at::Tensor state_of(Trainer& trainer, const std::string& name) {
  const auto state = trainer.state().value();
  for (const auto& [own, tensor] : state) {
    if (own == name) return to_torch(tensor).clone();
  }
  ADD_FAILURE() << "no " << name;
  return {};
}

TEST(Trainer, GoesForwardBackwardAndSteps) {
  const auto trainer = load(multiplies());
  ASSERT_TRUE(trainer) << trainer.error().message;
  const auto forward = (*trainer)->forward(0, input(true));
  ASSERT_TRUE(forward) << forward.error().message;
  EXPECT_EQ(forward->wants_gradient, std::vector<bool>{true});
  const auto back = (*trainer)->backward(0, ones_back());
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->values.size(), 1U);
  EXPECT_TRUE(to_torch(*back->values[0].get_if<Tensor>()).equal(torch::full({2, 3}, 3.F)));
  // Each row of the gradient is the sum of a column of the input: 5, 7, 9.
  const auto norms = (*trainer)->norms();
  ASSERT_TRUE(norms);
  ASSERT_EQ(norms->size(), 1U);
  EXPECT_NEAR(norms->front().second, std::sqrt(3.0 * (25 + 49 + 81)), 1e-4);
  plan::StepCommand command;
  command.learning_rate = 0.1;
  command.scale = 0.5;
  ASSERT_TRUE((*trainer)->step(command));
  EXPECT_TRUE(state_of(*trainer->runner->trainer(), "w")
                  .allclose(1 - 0.05 * torch::tensor({{5.F}, {7.F}, {9.F}}).expand({3, 3})));
  EXPECT_TRUE((*trainer)->norms()->empty()) << "gradients are cleared";
}

TEST(Trainer, AChainOfWritesToAViewIsBounded) {
  // LibTorch would free a longer one by recursion until the stack is full.
  test::HandMadeShard shard;
  shard.weight("w", torch::ones({3, 3}))
      .input("x", tensor_of(rows()))
      .input("n", std::int64_t{1})
      .code(R"(
def step(self, x, n: int):
    for i in range(n):
        x.add_(1)
    return x

def run(self, x, n: int):
    y = x.matmul(self.w)
    return (self.step(y.view([6]), n),)
)");
  const auto loaded = load(shard);
  ASSERT_TRUE(loaded) << loaded.error().message;
  Trainer& trainer = *loaded->runner->trainer();
  const auto passed = [&](std::int64_t writes) {
    return trainer.forward(0, {{tensor_of(rows()), writes}, {false}, None{}});
  };
  EXPECT_THAT(error_of(passed(10'000'000)), HasSubstr("at most 30000 times"));
  const auto forward = passed(30'000);
  ASSERT_TRUE(forward) << forward.error().message;
  const auto backward = trainer.backward(0, {{tensor_of(torch::ones({6}))}, {}, {}});
  EXPECT_EQ(error_of(backward), "none");
  EXPECT_TRUE(loaded->runner->run({tensor_of(rows()), std::int64_t{40'000}}))
      << "without gradients nothing is kept";
}

TEST(Trainer, ComplexNumbersAreTrainedToo) {
  test::HandMadeShard shard;
  const at::Tensor complex = torch::complex(rows(), rows());
  shard.weight("w", torch::complex(torch::ones({3}), torch::zeros({3})))
      .input("x", tensor_of(complex))
      .code("def run(self, x):\n    return (torch.view_as_real(x * self.w),)\n");
  const auto trainer = load(std::move(shard));
  ASSERT_TRUE(trainer) << trainer.error().message;
  const auto forward = (*trainer)->forward(0, {{tensor_of(complex)}, {true}, None{}});
  ASSERT_TRUE(forward) << forward.error().message;
  EXPECT_EQ(forward->wants_gradient, std::vector<bool>{true});
  const auto back = (*trainer)->backward(0, {{tensor_of(torch::ones({2, 3, 2}))}, {}, {}});
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->values.size(), 1U);
  EXPECT_TRUE(to_torch(*back->values[0].get_if<Tensor>())
                  .equal(torch::complex(torch::ones({2, 3}), torch::ones({2, 3}))));
  EXPECT_EQ((*trainer)->norms().value().size(), 1U) << "the parameter has a gradient";
}

TEST(Trainer, RefusesPassesThatDoNotFollow) {
  const auto trainer = load(multiplies());
  ASSERT_TRUE(trainer);
  EXPECT_THAT(error_of((*trainer)->backward(3, ones_back())),
              HasSubstr("micro-batch 3 has not gone forward"));
  ASSERT_TRUE((*trainer)->forward(0, input()));
  EXPECT_THAT(error_of((*trainer)->forward(0, input())), HasSubstr("gone forward already"));
  EXPECT_THAT(error_of((*trainer)->step({})), HasSubstr("micro-batch 0 has not come back"));
  EXPECT_THAT(error_of((*trainer)->forward_to_loss(1, input(), {})), HasSubstr("has no loss"));
}

TEST(Trainer, ChecksWhatAPeerSends) {
  const auto trainer = load(multiplies());
  ASSERT_TRUE(trainer);
  Activations wanting = input();
  wanting.wants_gradient = {true, true};
  EXPECT_THAT(error_of((*trainer)->forward(0, wanting)),
              HasSubstr("1 tensors came with 2 requests"));
  EXPECT_FALSE((*trainer)->forward(1, {{std::int64_t{1}}, {}, None{}}));
  EXPECT_FALSE((*trainer)->forward(2, {{}, {}, None{}}));
  ASSERT_TRUE((*trainer)->forward(3, input()));
  EXPECT_THAT(error_of((*trainer)->backward(3, {{tensor_of(torch::ones({3}))}, {}, {}})),
              HasSubstr("gradient 0 is 3, its tensor 2x3"));
  ASSERT_TRUE((*trainer)->forward(4, input()));
  EXPECT_FALSE((*trainer)->backward(4, {{tensor_of(torch::ones({2, 3}, at::kLong))}, {}, {}}));
  ASSERT_TRUE((*trainer)->forward(5, input()));
  EXPECT_THAT(error_of((*trainer)->backward(5, {})), HasSubstr("0 gradients for 1 tensors"));
}

TEST(Trainer, ChecksGradientsOfSharedParameters) {
  plan::TrainingSettings settings;
  settings.tied = {{"w", false, true}};
  const auto trainer = load(multiplies(), std::nullopt, settings);
  ASSERT_TRUE(trainer);
  ASSERT_TRUE((*trainer)->forward(0, input()));
  Gradients gradients = ones_back();
  gradients.tied = {{"w", tensor_of(torch::ones({2}))}, {"other", tensor_of(torch::ones({2}))}};
  EXPECT_THAT(error_of((*trainer)->backward(0, gradients)), HasSubstr("another shape"));
  ASSERT_TRUE((*trainer)->forward(1, input()));
  gradients.tied[0].second = tensor_of(torch::ones({3, 3}));
  const auto back = (*trainer)->backward(1, gradients);
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->tied.size(), 1U) << "those that this stage does not have pass";
  EXPECT_EQ(back->tied[0].first, "other");
  const auto step = (*trainer)->step({});
  ASSERT_TRUE(step);
  ASSERT_EQ(step->tied.size(), 1U) << "the first stage hands the sum on";
  EXPECT_EQ(step->tied[0].first, "w");
}

TEST(Trainer, TakesALossOfOneNumber) {
  const auto trainer =
      load(multiplies(), loss_of("torch.nll_loss(torch.log_softmax(outputs, 1), target)"));
  ASSERT_TRUE(trainer) << trainer.error().message;
  const auto outcome = (*trainer)->forward_to_loss(0, input(true), {tensor_of(labels()), 1});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_NEAR(outcome->loss, std::log(3.0), 1e-6);
  EXPECT_EQ(outcome->correct, 1) << "of equals the first counts";
  const auto back = (*trainer)->backward(0, {});
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(back->values[0].is<Tensor>());
  const auto outside =
      (*trainer)->forward_to_loss(1, input(), {tensor_of(torch::tensor({0, 7})), 1});
  EXPECT_THAT(error_of(outside), HasSubstr("7"));
}

TEST(Trainer, RefusesALossOfSeveralNumbers) {
  const auto trainer = load(multiplies(), loss_of("outputs.sum(1)"));
  ASSERT_TRUE(trainer) << trainer.error().message;
  EXPECT_THAT(error_of((*trainer)->forward_to_loss(0, input(), {tensor_of(labels()), 1})),
              HasSubstr("no scalar"));
}

TEST(Trainer, FrozenParametersStayAndWantNothing) {
  plan::TrainingSettings settings;
  settings.frozen = {"w"};
  const auto trainer = load(multiplies(), std::nullopt, settings);
  ASSERT_TRUE(trainer);
  const auto forward = (*trainer)->forward(0, input());
  ASSERT_TRUE(forward);
  EXPECT_EQ(forward->wants_gradient, std::vector<bool>{false});
  ASSERT_TRUE((*trainer)->backward(0, ones_back()));
  plan::StepCommand command;
  command.learning_rate = 1;
  ASSERT_TRUE((*trainer)->step(command));
  EXPECT_TRUE(state_of(*trainer->runner->trainer(), "w").equal(torch::ones({3, 3})));
}

TEST(Trainer, RandomNumbersNeedASeedAndTravelOn) {
  test::HandMadeShard shard;
  shard.input("x", tensor_of(rows()))
      .code("def run(self, x):\n    return (torch.dropout(x, 0.5, False),)\n");
  const auto trainer = load(std::move(shard));
  ASSERT_TRUE(trainer) << trainer.error().message;
  EXPECT_THAT(error_of((*trainer)->forward(0, input())), HasSubstr("without a seed"));
  Activations seeded = input();
  seeded.random = std::int64_t{5};
  const auto one = (*trainer)->forward(1, seeded);
  const auto two = (*trainer)->forward(2, seeded);
  ASSERT_TRUE(one && two);
  EXPECT_TRUE(bit_equal(one->values[0], two->values[0]));
  seeded.random = one->random;
  const auto three = (*trainer)->forward(3, seeded);
  ASSERT_TRUE(three) << three.error().message;
  EXPECT_FALSE(bit_equal(three->random, one->random)) << "the generator went on";
  seeded.random = tensor_of(torch::zeros({9}, at::kByte));
  EXPECT_FALSE((*trainer)->forward(4, seeded)) << "no state of the generator";
}

TEST(Trainer, AStateHasToFit) {
  auto shard = multiplies();
  const Tensor other = tensor_of(torch::ones({2, 2}));
  const Digest digest = sha256(other.bytes());
  shard.store()[digest] = other;
  plan::TrainingSettings settings;
  settings.state = {{"w", digest, other.dtype(), other.shape(), true}};
  EXPECT_THAT(error_of(load(shard, std::nullopt, settings)), HasSubstr("none of the shard's"));
  settings.state[0].name = "optimiser/w/momentum_buffer";
  EXPECT_THAT(error_of(load(shard, std::nullopt, settings)), HasSubstr("not the parameter's"));
  settings.state[0].name = "optimiser/nowhere/step";
  EXPECT_THAT(error_of(load(shard, std::nullopt, settings)), HasSubstr("no such parameter"));
}

}  // namespace
}  // namespace pareto::runtime
