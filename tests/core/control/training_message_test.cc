#include "core/control/training_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "core/control/hello.h"

namespace pareto::control {
namespace {

using testing::HasSubstr;
using wire::Message;
using wire::MessageKind;

constexpr TrainingPlace kPlace{0xabcd, 7, 2};

Tensor floats(const std::vector<float>& numbers) {
  auto tensor = Tensor::allocate(DType::kFloat32, {static_cast<std::int64_t>(numbers.size())});
  std::memcpy(tensor->mutable_bytes().data(), numbers.data(), tensor->size_bytes());
  return *tensor;
}

TEST(TrainingMessage, InputsSurviveTheWay) {
  TrainingInputs inputs;
  inputs.activations = {{floats({1, 2}), std::int64_t{3}}, {true}, std::int64_t{42}};
  inputs.micro_batches = 4;
  inputs.wants_norms = true;
  const Message message = train_message(kPlace, inputs);
  EXPECT_EQ(message.pipeline, 0xabcdU);
  EXPECT_EQ(message.request, 7U);
  EXPECT_EQ(message.sequence, 2U);
  const auto read = train_inputs_from(message);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->micro_batches, 4U);
  EXPECT_TRUE(read->wants_norms);
  EXPECT_EQ(read->activations.wants_gradient, std::vector<bool>{true});
  ASSERT_EQ(read->activations.values.size(), 2U);
  EXPECT_TRUE(bit_equal(read->activations.values[0], Value(floats({1, 2}))));
  EXPECT_TRUE(bit_equal(read->activations.random, Value(std::int64_t{42})));
}

TEST(TrainingMessage, GradientsSurviveTheWay) {
  const plan::Gradients gradients{{floats({0.5}), None{}}, {{"tied", floats({1})}}, {{"w", 0.25}}};
  const auto read = gradients_from(gradient_message(kPlace, gradients));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->values.size(), 2U);
  EXPECT_TRUE(read->values[1].is<None>());
  ASSERT_EQ(read->tied.size(), 1U);
  EXPECT_EQ(read->tied[0].first, "tied");
  EXPECT_EQ(read->norms, gradients.norms);
}

TEST(TrainingMessage, CommandsTargetsAndOutcomesSurviveTheWay) {
  plan::StepCommand command;
  command.learning_rate = 0.1;
  command.scale = 0.5;
  command.tied = {{"tied", floats({1})}};
  command.times = {{Nanoseconds(1), Nanoseconds(2), Nanoseconds(3), Nanoseconds(4), 5, 5},
                   {.bytes_sent = 6, .bytes_raw = 7}};
  const auto step = step_from(step_message(kPlace, command));
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_EQ(step->learning_rate, 0.1);
  EXPECT_EQ(step->scale, 0.5);
  EXPECT_EQ(step->tied.size(), 1U);
  EXPECT_EQ(step->times, command.times);

  const auto target = target_from(target_message(kPlace, {floats({1}), 0.25}));
  ASSERT_TRUE(target);
  EXPECT_EQ(target->weight, 0.25);

  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  const auto outcome = outcome_from(outcome_message(kPlace, {not_a_number, 3}));
  ASSERT_TRUE(outcome) << "who trains wants to know of it";
  EXPECT_NE(outcome->loss, outcome->loss);
  EXPECT_EQ(outcome->correct, 3);
}

/// Returns the inputs' message with item `index` of its body replaced.
Message spoilt(std::size_t index, Value value) {
  Message message = train_message(kPlace, {.activations = {{floats({1})}, {true}, None{}}});
  message.body.get_if<Tuple>()->items.at(index) = std::move(value);
  return message;
}

TEST(TrainingMessage, ForeignOnesAreChecked) {
  EXPECT_FALSE(train_inputs_from(spoilt(0, std::int64_t{1})));
  EXPECT_FALSE(train_inputs_from(spoilt(1, List{{std::int64_t{1}}})));
  EXPECT_FALSE(train_inputs_from(spoilt(4, None{})));
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40}) {
    const auto read = train_inputs_from(spoilt(3, count));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(read.error().message, HasSubstr("not 1 to 1024"));
  }
  EXPECT_FALSE(train_inputs_from(ready_message(1)));
  EXPECT_FALSE(gradients_from(train_message(kPlace, {})));
  EXPECT_FALSE(step_from(gradient_message(kPlace, {})));
  Message step = step_message(kPlace, {});
  step.body.get_if<Tuple>()->items[0] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(step_from(step));
  step = step_message(kPlace, {});
  step.body.get_if<Tuple>()->items[3] = List{{Tuple{{std::int64_t{-1}}}}};
  EXPECT_FALSE(step_from(step));
  Message empty = step;
  empty.body = None{};
  EXPECT_FALSE(step_from(empty));
}

}  // namespace
}  // namespace pareto::control
