#include "partitioner/model/graph/hazards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/scripted.h"

namespace pareto::model {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

/// The reasons of all positions of a model where no cut is possible.
std::vector<std::string> reasons_in(const torch::jit::Module& module, const std::string& shapes) {
  const auto model = test::open(module, shapes);
  EXPECT_TRUE(model) << model.error().message;
  std::vector<std::string> reasons;
  if (!model) return reasons;
  for (const SplitPoint& point : model->split_points()) {
    if (!point.legal) reasons.push_back(point.reason);
  }
  return reasons;
}
std::vector<std::string> reasons_of(const std::string& body) {
  return reasons_in(test::scripted("Hazard", "\ndef forward(self, x):\n" + body), "4");
}

TEST(Hazards, TwoNamesOfMemoryThatIsWrittenLaterDoNotCross) {
  const auto reasons = reasons_of(
      "    base = torch.relu(x)\n"
      "    view = base[:, 0:2]\n"
      "    other = torch.sigmoid(x)\n"
      "    view.fill_(3.0)\n"
      "    return base + other\n");
  EXPECT_THAT(reasons, Contains(AllOf(HasSubstr("cross and may share memory that aten::fill_"),
                                      HasSubstr("writes later"))));
}

TEST(Hazards, OneNameOfWrittenMemoryMayCross) {
  // Nobody else sees the write, so that it is none.
  const auto reasons = reasons_of(
      "    y = torch.relu(x)\n"
      "    y.add_(1.0)\n"
      "    return torch.sigmoid(y)\n");
  EXPECT_THAT(reasons, Each(Not(HasSubstr("share memory"))));
}

TEST(Hazards, MemoryThatIsReadOnlyMayBeShared) {
  const auto reasons = reasons_of(
      "    base = torch.relu(x)\n"
      "    view = base[:, 0:2]\n"
      "    return base.sum() + view.sum()\n");
  EXPECT_THAT(reasons, Each(Not(HasSubstr("share memory"))));
}

TEST(Hazards, AWeightThatIsWrittenStaysOnOneSide) {
  torch::jit::Module module("__torch__.Counts");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.register_buffer("count", torch::zeros({4}));
  module.define(R"(
def forward(self, x):
    y = torch.relu(x) + self.count
    z = torch.sigmoid(y)
    self.count.add_(1.0)
    return z * 2
)");
  EXPECT_THAT(reasons_in(module, "4"),
              Contains(AllOf(HasSubstr("weight count is used on both sides"),
                             HasSubstr("writes it in place"))));
}

TEST(FindWrittenWeights, AreThoseThatAnOperatorWrites) {
  torch::jit::Module module("__torch__.Writes");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.register_buffer("read", torch::ones({4}));
  module.register_buffer("written", torch::zeros({4}));
  module.define(R"(
def forward(self, x):
    self.written.add_(1.0)
    return x * self.read + self.written
)");
  const auto model = test::open(module, "4");
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ(model->flat().weights.size(), 2U);
  for (const FlatWeight& weight : model->flat().weights) {
    EXPECT_EQ(weight.is_written, weight.name == "written") << weight.name;
  }
}

}  // namespace
}  // namespace pareto::model
