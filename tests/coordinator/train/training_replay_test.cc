#include "coordinator/train/training_replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "partitioner/model/zoo/losses.h"
#include "partitioner/model/zoo/model_builder.h"

namespace pareto::train {
namespace {

using testing::HasSubstr;

/// A small network with norms and dropout, its loss, and a plan that cuts it.
class Replays : public testing::Test {
 protected:
  Replays() {
    model::zoo::ModelOptions options;
    options.num_classes = 4;
    options.input = model::parse_input_shapes("3x32x32").value();
    model_.emplace(model::zoo::open_model("mobilenetv2", options).value());
    loss_.emplace(model::zoo::open_loss("cross-entropy", *model_).value());
  }

  plan::Plan cut_at(const std::string& name, std::int64_t batch) const {
    const auto point = std::ranges::find(model_->split_points(), name, &model::SplitPoint::name);
    EXPECT_NE(point, model_->split_points().end());
    plan::Plan plan;
    plan.model = model_->name();
    plan.batch = batch;
    plan.splits = {name};
    plan.stages = {{"a", 0, point->position},
                   {"b", point->position, std::ssize(model_->graph().operators)}};
    return plan;
  }

  std::optional<model::Model> model_;
  std::optional<model::Model> loss_;
};

TEST_F(Replays, ACutModelLearnsWhatTheWholeOneDoes) {
  for (const std::int64_t batch : {2, 5}) {
    const auto difference =
        training_difference(*model_, *loss_, cut_at("after:features.7", batch), 1);
    ASSERT_TRUE(difference) << difference.error().message;
    EXPECT_EQ(*difference, "");
  }
}

TEST_F(Replays, SayWhatDiffersFirst) {
  const auto step = replay_step(*model_, *loss_, cut_at("after:features.7", 2), 1);
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_EQ(first_difference(*step, *step), "");
  ReplayedStep other = *step;
  const auto changed = std::ranges::find(other.state, "optimiser/classifier.1.bias/momentum_buffer",
                                         &plan::StateTensor::name);
  ASSERT_NE(changed, other.state.end());
  Tensor tensor = Tensor::allocate(DType::kFloat32, changed->tensor.shape()).value();
  std::ranges::copy(changed->tensor.bytes(), tensor.mutable_bytes().begin());
  tensor.mutable_bytes()[0] ^= std::byte{1};
  changed->tensor = tensor;
  EXPECT_EQ(first_difference(*step, other), "the gradient of classifier.1.bias differs");
  other = *step;
  other.loss += 1;
  EXPECT_THAT(first_difference(*step, other), HasSubstr("the loss is"));
  other = *step;
  other.state.pop_back();
  EXPECT_THAT(first_difference(*step, other), HasSubstr("tensors are trained"));
}

}  // namespace
}  // namespace pareto::train
