#include "partitioner/model/zoo/losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/partitioner/scripted.h"

namespace pareto::model::zoo {
namespace {

using test::scripted;
using testing::HasSubstr;

Model model_of(const std::string& code, const std::string& shapes = "3") {
  auto model = test::open(scripted("Net", code), shapes);
  EXPECT_TRUE(model) << model.error().message;
  return *std::move(model);
}

Model classifier() { return model_of("def forward(self, x):\n    return x * 2\n"); }
Model regression() { return model_of("def forward(self, x):\n    return x.sum(1)\n"); }

Tensor floats(Shape shape, const std::vector<float>& numbers) {
  auto tensor = Tensor::allocate(DType::kFloat32, std::move(shape)).value();
  std::memcpy(tensor.mutable_bytes().data(), numbers.data(), tensor.size_bytes());
  return tensor;
}

Tensor labels(const std::vector<std::int64_t>& numbers) {
  auto tensor = Tensor::allocate(DType::kInt64, {std::ssize(numbers)}).value();
  std::memcpy(tensor.mutable_bytes().data(), numbers.data(), tensor.size_bytes());
  return tensor;
}

double value_of(const Model& loss, const Tensor& outputs, const Tensor& target) {
  const auto result = loss.run_whole({outputs, target});
  EXPECT_TRUE(result) << result.error().message;
  float number = 0;
  std::memcpy(&number, result->front().get_if<Tensor>()->bytes().data(), sizeof number);
  return number;
}

std::string refusal(const std::string& name, const Model& model) {
  const auto loss = open_loss(name, model);
  return loss ? std::string("opened") : loss.error().message;
}

TEST(Losses, AreWhatTheirNamesSay) {
  const Tensor outputs = floats({2, 3}, {1, 2, 3, 0, 0, 0});
  const auto entropy = open_loss("cross-entropy", classifier());
  ASSERT_TRUE(entropy) << entropy.error().message;
  const double first = std::log(std::exp(-1.0) + 1 + std::exp(1.0));
  EXPECT_NEAR(value_of(*entropy, outputs, labels({1, 0})), (first + std::log(3.0)) / 2, 1e-6);
  const auto squares = open_loss("mse", classifier());
  ASSERT_TRUE(squares) << squares.error().message;
  EXPECT_NEAR(value_of(*squares, outputs, labels({1, 0})), (1 + 1 + 9 + 1) / 6.0, 1e-6);
  const auto distance = open_loss("mse", regression());
  ASSERT_TRUE(distance) << distance.error().message;
  EXPECT_NEAR(value_of(*distance, floats({2}, {1.5F, -1}), labels({1, 1})), (0.25 + 4) / 2, 1e-6);
}

TEST(Losses, RefuseOutputsThatTheyCannotTake) {
  EXPECT_THAT(refusal("cross-entropy", regression()), HasSubstr("takes outputs of N x classes"));
  EXPECT_THAT(refusal("mse", model_of("def forward(self, x):\n    return x, x\n")),
              HasSubstr("only tensors go into a loss"));
  EXPECT_THAT(refusal("hinge", classifier()), HasSubstr("built in are cross-entropy, mse"));
}

TEST(Losses, TakeTheBatchOfAModelThatRunsAtNoOther) {
  const Model held = model_of("def forward(self, x):\n    return x.view([2, 3]) * 2\n");
  ASSERT_EQ(held.only_batch(), 2);
  for (const std::string& name : loss_names()) {
    const auto loss = open_loss(name, held);
    ASSERT_TRUE(loss) << loss.error().message;
    EXPECT_GT(value_of(*loss, floats({2, 3}, {1, 2, 3, 0, 0, 0}), labels({1, 0})), 0) << name;
  }
  const test::Files files;
  const std::string own = files.save(scripted("Loss",
                                              "def forward(self, outputs, labels):\n"
                                              "    wanted = labels.view([2, 1])\n"
                                              "    return (outputs - wanted).abs().mean()\n"),
                                     "held");
  EXPECT_EQ(refusal(own, held), "opened");
}

TEST(Losses, SayWhatTheModelReturns) {
  EXPECT_THAT(refusal("mse", model_of("def forward(self, x):\n    return x.t()\n")),
              HasSubstr("with the batch in front, and the model returns float32[3xB]:"));
}

TEST(Losses, AFileHasToReturnOneNumber) {
  const test::Files files;
  const auto opened = [&](const std::string& code) {
    return refusal(files.save(scripted("Loss", code), "loss"), classifier());
  };
  EXPECT_EQ(opened("def forward(self, outputs, labels):\n"
                   "    return (outputs.sum(1) - labels).abs().mean()\n"),
            "opened");
  EXPECT_THAT(opened("def forward(self, outputs, labels):\n    return outputs.sum(1) - labels\n"),
              HasSubstr("it returns no scalar but float32[B]"));
  EXPECT_THAT(opened("def forward(self, outputs, labels):\n"
                     "    return outputs.mean(), outputs.sum()\n"),
              HasSubstr("it returns no scalar but Tuple"));
  EXPECT_THAT(opened("def forward(self, outputs, labels):\n    return labels.sum()\n"),
              HasSubstr("no scalar but int64"));
  EXPECT_THAT(opened("def forward(self, outputs):\n    return outputs.mean()\n"),
              HasSubstr("2 input shapes are given, the model has 1 input"));
}

TEST(Losses, AFileHasToHaveAGradient) {
  const test::Files files;
  const auto opened = [&](const std::string& value) {
    const std::string code = "def forward(self, outputs, labels):\n    return " + value + "\n";
    return refusal(files.save(scripted("Loss", code), "loss"), classifier());
  };
  EXPECT_THAT(opened("(outputs.detach() * 0).sum()"), HasSubstr("does not require grad"));
  EXPECT_THAT(opened("(labels * 1.0).mean()"), HasSubstr("does not require grad"));
  EXPECT_EQ(opened("outputs.sum() + outputs.detach().sum()"), "opened");
}

}  // namespace
}  // namespace pareto::model::zoo
