// Daemons against an ordinary loop over torchvision's model in training mode, with PyTorch's own
// optimiser: after twenty steps every tensor has the same bits, with batch norm and dropout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

struct Trained {
  const char* ours;
  const char* theirs;
  const char* split;
};

void PrintTo(const Trained& trained, std::ostream* out) { *out << trained.ours; }

class TrainReference : public EndToEnd, public testing::WithParamInterface<Trained> {
 protected:
  /// Runs the script on pictures of 32 by 32 with four classes.
  Finished script(const std::string& what, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> command{
        "/usr/bin/python3",
        std::string(PARETO_SOURCE_DIR) + "/tests/e2e/train_reference.py",
        what,
        GetParam().theirs,
        "4",
        "32",
        "32",
        folder().string()};
    command.insert(command.end(), more.begin(), more.end());
    return run(command);
  }
};

TEST_P(TrainReference, TwentyStepsHaveTheBitsOfAnOrdinaryLoop) {
  const auto begun = script("begin");
  ASSERT_EQ(begun.exit_code, 0) << "python3-torchvision must be installed: " << begun.errors;
  const auto learnt = script("learn", {"5", "8", "2", "0.01", "0.9"});
  ASSERT_EQ(learnt.exit_code, 0) << learnt.errors;
  const auto ours = paretoctl({"train",
                               "--model",
                               GetParam().ours,
                               "--weights",
                               path("begin.pth"),
                               "--input-shape",
                               "3x32x32",
                               "--num-classes",
                               "4",
                               "--data",
                               "npy:" + folder().string(),
                               "--batch",
                               "8",
                               "--micro-batches",
                               "2",
                               "--epochs",
                               "5",
                               "--learning-rate",
                               "0.01",
                               "--momentum",
                               "0.9",
                               "--no-shuffle",
                               "--threads",
                               "1",
                               "--split",
                               GetParam().split,
                               "--output",
                               path("ours.pth")});
  ASSERT_EQ(ours.exit_code, 0) << ours.errors;
  const auto compared = script("compare");
  ASSERT_EQ(compared.exit_code, 0) << compared.errors;
  EXPECT_EQ(compared.output, "") << "these tensors differ";
}

INSTANTIATE_TEST_SUITE_P(Models, TrainReference,
                         testing::Values(Trained{"resnet18", "resnet18", "after:layer2"},
                                         Trained{"mobilenetv2", "mobilenet_v2", "after:features.7"},
                                         Trained{"squeezenet1_0", "squeezenet1_0",
                                                 "after:classifier.0"}),
                         [](const auto& test) { return std::string(test.param.ours); });

}  // namespace
}  // namespace pareto::test
