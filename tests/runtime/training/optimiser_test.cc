#include "runtime/training/optimiser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <map>

namespace pareto::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct OptimiserCase {
  const char* title;
  plan::Optimiser settings;
};

std::vector<OptimiserCase> all_optimisers() {
  return {{"sgd", {.name = "sgd"}},
          {"decay", {.name = "sgd", .weight_decay = 0.1}},
          {"momentum", {.name = "sgd", .momentum = 0.9, .weight_decay = 0.01}},
          {"nesterov", {.name = "sgd", .momentum = 0.8, .nesterov = true}},
          {"adam", {.name = "adam", .weight_decay = 0.02, .beta1 = 0.8, .beta2 = 0.99}},
          {"adamw", {.name = "adamw", .weight_decay = 0.02, .epsilon = 1e-4}}};
}

/// Parameters with slashes and dots in their names, one of them a scalar.
std::vector<NamedParameter> parameters_from(int seed) {
  at::manual_seed(seed);
  std::vector<NamedParameter> list{
      {"layer.weight", at::randn({3, 4})}, {"a/b", at::randn({5})}, {"scale", at::randn({})}};
  for (auto& [name, tensor] : list) tensor.requires_grad_();
  return list;
}

void give_gradients(std::vector<NamedParameter>& parameters, int seed) {
  at::manual_seed(1000 + seed);
  for (auto& [name, tensor] : parameters) tensor.mutable_grad() = at::randn(tensor.sizes());
}

double rate_of(int step) { return 0.1 / (1 + step); }

void train(NamedOptimiser& optimiser, std::vector<NamedParameter>& parameters, int begin, int end) {
  for (int step = begin; step < end; ++step) {
    give_gradients(parameters, step);
    optimiser.step(rate_of(step));
  }
}

/// One number under the optimiser's equations, in float64, as its paper has them.
class OneNumber {
 public:
  OneNumber(const plan::Optimiser& settings, double start) : settings_(settings), value_(start) {}

  double step(double gradient, double rate) {
    ++steps_;
    if (settings_.name == "adamw") {
      value_ -= rate * settings_.weight_decay * value_;
    } else {
      gradient += settings_.weight_decay * value_;
    }
    if (settings_.name == "sgd") {
      first_ = steps_ == 1 ? gradient : settings_.momentum * first_ + gradient;
      const double ahead = settings_.nesterov ? gradient + settings_.momentum * first_ : first_;
      return value_ -= rate * (settings_.momentum == 0 ? gradient : ahead);
    }
    first_ = settings_.beta1 * first_ + (1 - settings_.beta1) * gradient;
    second_ = settings_.beta2 * second_ + (1 - settings_.beta2) * gradient * gradient;
    const double mean = first_ / (1 - std::pow(settings_.beta1, steps_));
    const double square = second_ / (1 - std::pow(settings_.beta2, steps_));
    return value_ -= rate * mean / (std::sqrt(square) + settings_.epsilon);
  }

 private:
  plan::Optimiser settings_;
  double value_;
  double first_ = 0;
  double second_ = 0;
  int steps_ = 0;
};

class EveryOptimiser : public testing::TestWithParam<OptimiserCase> {
 protected:
  const plan::Optimiser& settings() const { return GetParam().settings; }
};

TEST_P(EveryOptimiser, StepsByItsEquations) {
  auto parameters = parameters_from(1);
  std::vector<OneNumber> numbers;
  for (int i = 0; i < 5; ++i) {
    numbers.emplace_back(settings(), parameters[1].second[i].item<double>());
  }
  NamedOptimiser optimiser(settings(), parameters);
  for (int step = 0; step < 6; ++step) {
    give_gradients(parameters, step);
    const at::Tensor gradient = parameters[1].second.grad().clone();
    optimiser.step(rate_of(step));
    EXPECT_TRUE(parameters[1].second.grad().equal(gradient)) << "gradients stay";
    for (int i = 0; i < 5; ++i) {
      const double expected = numbers[i].step(gradient[i].item<double>(), rate_of(step));
      EXPECT_NEAR(parameters[1].second[i].item<double>(), expected, 1e-5) << "step " << step;
    }
  }
}

TEST_P(EveryOptimiser, GoesOnFromItsStateBitForBit) {
  auto whole = parameters_from(2);
  NamedOptimiser straight(settings(), whole);
  train(straight, whole, 0, 3);
  // What a checkpoint has: values of parameters, and the state by name.
  auto resumed = parameters_from(7);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const at::NoGradGuard no_grad;
    resumed[i].second.copy_(whole[i].second);
  }
  NamedOptimiser second(settings(), resumed);
  for (const auto& [name, tensor] : straight.state()) {
    const at::Tensor given = tensor.clone();
    second.restore(name, given);
    given.zero_();  // it has taken a copy
  }
  train(straight, whole, 3, 6);
  train(second, resumed, 3, 6);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_TRUE(whole[i].second.equal(resumed[i].second)) << whole[i].first;
  }
}

TEST_P(EveryOptimiser, ItsStateIsACopy) {
  auto changed = parameters_from(3);
  auto kept = parameters_from(3);
  NamedOptimiser first(settings(), changed);
  NamedOptimiser second(settings(), kept);
  train(first, changed, 0, 1);
  train(second, kept, 0, 1);
  for (const auto& [name, tensor] : first.state()) tensor.fill_(77);
  train(first, changed, 1, 3);
  train(second, kept, 1, 3);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_TRUE(changed[i].second.equal(kept[i].second)) << kept[i].first;
  }
}

TEST_P(EveryOptimiser, ParametersWithoutAGradientStayAndHaveNoState) {
  auto parameters = parameters_from(4);
  NamedOptimiser optimiser(settings(), parameters);
  EXPECT_THAT(optimiser.state(), IsEmpty());
  const at::Tensor before = parameters[0].second.detach().clone();
  parameters[1].second.mutable_grad() = at::ones({5});
  optimiser.step(0.5);
  EXPECT_TRUE(parameters[0].second.equal(before));
  for (const auto& [name, tensor] : optimiser.state()) EXPECT_THAT(name, HasSubstr("/a/b/"));
}

TEST_P(EveryOptimiser, StateThatDoesNotFitIsRefused) {
  NamedOptimiser optimiser(settings(), parameters_from(5));
  const std::vector<std::pair<std::string, at::Tensor>> wrong{
      {"optimiser/a/b/momentum_buffer", at::zeros({4})},
      {"optimiser/a/b/momentum_buffer", at::zeros({5}, at::kDouble)},
      {"optimiser/a/b/exp_avg", at::zeros({1, 5})},
      {"optimiser/a/b/exp_avg_sq", at::zeros({})},
      {"optimiser/a/b/step", at::zeros({})},
      {"optimiser/a/b/step", at::zeros({2}, at::kLong)},
      {"optimiser/a/b/max_exp_avg_sq", at::zeros({5})},
      {"optimiser/a/b/", at::zeros({5})},
      {"optimiser/a/step", at::zeros({}, at::kLong)},
      {"optimiser/a", at::zeros({5})},
      {"optimiser/a/b", at::zeros({5})},
      {"optimiser/", at::zeros({5})},
      {"optimiser/b/step", at::zeros({}, at::kLong)}};
  for (const auto& [name, tensor] : wrong) {
    EXPECT_THROW(optimiser.restore(name, tensor), std::runtime_error) << name;
  }
  EXPECT_THAT(optimiser.state(), IsEmpty());
  // Each has one of the two kinds of state, and refuses the other.
  const bool is_sgd = settings().name == "sgd";
  const at::Tensor fits = at::ones({5});
  const auto momentum = [&] { optimiser.restore("optimiser/a/b/momentum_buffer", fits); };
  const auto average = [&] { optimiser.restore("optimiser/a/b/exp_avg", fits); };
  if (is_sgd) {
    EXPECT_NO_THROW(momentum());
    EXPECT_THROW(average(), std::runtime_error);
    EXPECT_THROW(optimiser.restore("optimiser/a/b/step", at::ones({}, at::kLong)),
                 std::runtime_error);
  } else {
    EXPECT_NO_THROW(average());
    EXPECT_THROW(momentum(), std::runtime_error);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryOptimiser, testing::ValuesIn(all_optimisers()),
                         [](const auto& each) { return each.param.title; });

std::vector<std::string> state_names(const plan::Optimiser& settings) {
  std::vector<NamedParameter> parameters{{"w", at::ones({2}).requires_grad_()}};
  NamedOptimiser optimiser(settings, parameters);
  train(optimiser, parameters, 0, 2);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : optimiser.state()) {
    names.push_back(name);
    if (!name.ends_with("/step")) continue;
    EXPECT_EQ(tensor.scalar_type(), at::kLong);
    EXPECT_EQ(tensor.item<std::int64_t>(), 2);
  }
  return names;
}

TEST(NamedOptimiser, NamesItsState) {
  EXPECT_THAT(state_names({.name = "sgd"}), IsEmpty());
  EXPECT_THAT(state_names({.name = "sgd", .momentum = 0.5}),
              ElementsAre("optimiser/w/momentum_buffer"));
  for (const char* const name : {"adam", "adamw"}) {
    EXPECT_THAT(state_names({.name = name}),
                ElementsAre("optimiser/w/step", "optimiser/w/exp_avg", "optimiser/w/exp_avg_sq"));
  }
}

TEST(NamedOptimiser, MayHaveNoParameters) {
  NamedOptimiser optimiser({.name = "adam"}, {});
  optimiser.step(0.1);
  EXPECT_THAT(optimiser.state(), IsEmpty());
  EXPECT_THROW(optimiser.restore("optimiser/w/exp_avg", at::ones({1})), std::runtime_error);
}

TEST(NamedOptimiser, HalfAStateIsAnErrorAndNotTheEnd) {
  for (const char* const part : {"exp_avg", "exp_avg_sq"}) {
    std::vector<NamedParameter> parameters{{"w", at::ones({2}).requires_grad_()}};
    NamedOptimiser optimiser({.name = "adam"}, parameters);
    optimiser.restore(std::string("optimiser/w/") + part, at::ones({2}));
    parameters[0].second.mutable_grad() = at::ones({2});
    EXPECT_ANY_THROW(optimiser.step(0.1)) << part;
  }
}

}  // namespace
}  // namespace pareto::runtime
