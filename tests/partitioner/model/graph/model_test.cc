#include "partitioner/model/graph/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/torch/convert.h"
#include "tests/partitioner/model/graph/small_net.h"
#include "tests/partitioner/scripted.h"

namespace pareto::model {
namespace {

using test::open;
using test::scripted;
using test::small_net;

TEST(Model, WholeRunsWhatTheFileDoes) {
  const auto module = small_net();
  const auto model = open(module, "3x8x8");
  ASSERT_TRUE(model) << model.error().message;
  const auto inputs = model->example_inputs(3, 5);
  ASSERT_TRUE(inputs);
  const auto outputs = model->run_whole(*inputs);
  ASSERT_TRUE(outputs) << outputs.error().message;
  ASSERT_EQ(outputs->size(), 1U);
  EXPECT_EQ((*outputs)[0].get_if<Tensor>()->shape(), (Shape{3, 10}));
  const auto wrong = model->run_whole({});
  EXPECT_FALSE(wrong);
  EXPECT_FALSE(model->run_whole({Value(std::int64_t{3})}));
  EXPECT_FALSE(model->example_inputs(0, 0));
}

TEST(Model, AModelThatWritesToItsInputLeavesOursAlone) {
  const auto model =
      open(scripted("Writes", "def forward(self, x):\n    x.fill_(1.0)\n    return x + 1\n"), "4");
  ASSERT_TRUE(model) << model.error().message;
  const auto inputs = model->example_inputs(1, 3).value();
  const auto again = model->example_inputs(1, 3).value();
  ASSERT_TRUE(model->run_whole(inputs));
  EXPECT_TRUE(bit_equal(inputs[0], again[0]));
}

TEST(Model, WeightsByDigest) {
  const auto model = open(small_net(), "3x8x8");
  ASSERT_TRUE(model) << model.error().message;
  const auto& weights = model->graph().weights;
  const auto& digests = model->weight_digests();
  ASSERT_EQ(digests.size(), weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto tensor = model->weight(digests[i]);
    ASSERT_TRUE(tensor);
    EXPECT_EQ(tensor->size_bytes(), weights[i].size_bytes);
    EXPECT_EQ(sha256(tensor->bytes()), digests[i]);
  }
  EXPECT_EQ(model->weight(sha256("no such weight")).error().code, ErrorCode::kNotFound);
}

TEST(Model, TheDigestIsOfGraphWeightsAndShapes) {
  const auto module = small_net();
  const auto one = open(module, "3x8x8");
  const auto same = open(module, "3x8x8");
  ASSERT_TRUE(one && same);
  EXPECT_EQ(one->digest(), same->digest());
  auto changed = small_net();
  changed.setattr("fc", changed.attr("fc").toTensor() + 1);
  EXPECT_NE(open(changed, "3x8x8")->digest(), one->digest());
  EXPECT_NE(
      open(scripted("A", "def forward(self, x):\n    return torch.relu(x) + 1\n"), "4")->digest(),
      open(scripted("A", "def forward(self, x):\n    return torch.relu(x) + 2\n"), "4")->digest());
  const auto holding = [](double value) {
    torch::jit::Module held("__torch__.Holding");
    held.register_attribute("parts", c10::ListType::ofTensors(),
                            c10::List<at::Tensor>({torch::full({4}, value)}));
    held.define("def forward(self, x):\n    return torch.relu(x) + self.parts[0]\n");
    return held;
  };
  EXPECT_NE(open(holding(1), "4")->digest(), open(holding(2), "4")->digest());
}

}  // namespace
}  // namespace pareto::model
