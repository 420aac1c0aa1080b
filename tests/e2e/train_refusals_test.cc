// What training refuses, and what it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "tests/e2e/train_fixture.h"

namespace pareto::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(Train, AnotherModelPlanOrTrainingIsRefused) {
  ASSERT_EQ(
      train({"--checkpoint", path("run"), "--split", "after:features.7", "--in-process"}).exit_code,
      0);
  const auto refusal = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"train", "--resume", path("run")});
    const auto done = paretoctl(more);
    EXPECT_EQ(done.exit_code, 2) << done.output;
    return done.errors;
  };
  EXPECT_THAT(refusal({"--split", "after:features.3"}),
              AllOf(HasSubstr("another plan"), HasSubstr("after:features.7"),
                    HasSubstr("after:features.3")));
  EXPECT_THAT(refusal({"--model", "squeezenet1_0"}), HasSubstr("another model"));
  EXPECT_THAT(refusal({"--epochs", "9"}), HasSubstr("end of the cosine"));
  EXPECT_THAT(refusal({"--batch", "8"}), HasSubstr("--batch does not go with --resume"));
  const auto again = train({"--checkpoint", path("run")});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.errors, AllOf(HasSubstr("an earlier training"), HasSubstr("--resume")));
}

TEST_F(Train, BadInputIsNamed) {
  const auto refusal = [&](const std::vector<std::string>& more, int code = 2) {
    const auto done = train(more);
    EXPECT_EQ(done.exit_code, code) << done.errors;
    return done.errors;
  };
  EXPECT_THAT(refusal({"--split", "after:features.18", "--freeze", "classifier"}),
              HasSubstr("there is no parameter to train: the last stage would learn nothing"));
  EXPECT_THAT(refusal({"--freeze", "featrues"}), HasSubstr("did you mean features"));
  EXPECT_THAT(refusal({"--loss", "hinge"}), HasSubstr("no loss \"hinge\""));
  EXPECT_THAT(refusal({"--optimiser", "adam"}), HasSubstr("--momentum and --nesterov are of sgd"));
  EXPECT_THAT(refusal({"--rate-schedule", "linear"}), HasSubstr("step:EPOCHS[:FACTOR]"));
  EXPECT_THAT(refusal({"--order", "gpipe"}), HasSubstr("fill-drain"));
  EXPECT_THAT(refusal({"--output", "model.onnx"}), HasSubstr(".pth"));
  EXPECT_THAT(refusal({"--micro-batches", "9"}), HasSubstr("9 micro-batches of a batch of 8"));
  EXPECT_THAT(refusal({"--resume", path("samples")}), HasSubstr("--resume"));
  std::vector<std::int64_t> labels(kSamples, 0);
  labels[5] = 7;
  write_labels(path("samples/labels.npy"), labels);
  EXPECT_THAT(refusal({}), AllOf(HasSubstr("labels.npy"), HasSubstr("7")));
}

TEST_F(Train, ABrokenPictureIsNamed) {
  // The first and the last sample are looked at before; this one is neither.
  // 32 x 32, grey.
  constexpr std::array<unsigned char, 96> kGrey{
      0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
      0x44, 0x52, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x20, 0x08, 0x02, 0x00, 0x00,
      0x00, 0xfc, 0x18, 0xed, 0xa3, 0x00, 0x00, 0x00, 0x27, 0x49, 0x44, 0x41, 0x54, 0x78,
      0xda, 0xed, 0xcd, 0x31, 0x0d, 0x00, 0x00, 0x0c, 0x03, 0xa0, 0x4a, 0xab, 0x7f, 0x55,
      0x55, 0xb1, 0x63, 0x09, 0x18, 0x20, 0x3d, 0x16, 0x81, 0x40, 0x20, 0x10, 0x08, 0x04,
      0x02, 0x81, 0x40, 0xf0, 0x25, 0x18, 0x1c, 0xff, 0x00, 0x2e, 0xf3, 0xa7, 0x68, 0x46,
      0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
  for (const char* name : {"ant/1.png", "bee/2.png", "cat/3.png", "dog/4.png"}) {
    const std::filesystem::path picture = folder() / "pictures" / name;
    std::filesystem::create_directories(picture.parent_path());
    std::ofstream file(picture, std::ios::binary);
    file.write(reinterpret_cast<const char*>(kGrey.data()), kGrey.size());
  }
  std::ofstream(path("pictures/cat/3.png")) << "this is no picture";
  const auto done = train({"--data", path("pictures"), "--batch", "4", "--micro-batches", "2"});
  EXPECT_EQ(done.exit_code, 1) << "the training ran already: " << done.errors;
  EXPECT_THAT(done.errors, AllOf(HasSubstr("step 0"), HasSubstr("pictures/cat/3.png")));
}

TEST_F(Train, ALossThatIsNoNumberLeavesTheLastGoodCheckpoint) {
  const auto done = train({"--learning-rate", "1e30", "--rate-schedule", "constant", "--checkpoint",
                           path("run"), "--checkpoint-every", "1", "--output", path("m.pt")});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.output, AllOf(HasSubstr("step"), HasSubstr("the last good checkpoint is")));
  EXPECT_FALSE(std::filesystem::exists(path("m.pt")));
  const auto resumed = paretoctl({"train", "--resume", path("run")});
  EXPECT_EQ(resumed.exit_code, 1) << "it diverges again, from a whole checkpoint";
}

TEST_F(Train, ALossFileHasToReturnAScalar) {
  const auto made = run({"/usr/bin/python3", "-c", R"(
import sys, torch
class Each(torch.nn.Module):
    def forward(self, outputs, labels):
        return outputs.sum(1) - labels
class Mean(torch.nn.Module):
    def forward(self, outputs, labels):
        return torch.nn.functional.cross_entropy(outputs, labels, label_smoothing=0.1)
outputs, labels = torch.rand(2, 4), torch.zeros(2, dtype=torch.long)
for module in (Each(), Mean()):
    torch.jit.trace(module, (outputs, labels)).save(sys.argv[1] + '/' + type(module).__name__ + '.pt')
)",
                         folder().string()});
  ASSERT_EQ(made.exit_code, 0) << "python3-torch must be installed: " << made.errors;
  const auto each = train({"--loss", path("Each.pt")});
  EXPECT_EQ(each.exit_code, 2);
  EXPECT_THAT(each.errors, AllOf(HasSubstr("Each.pt"), HasSubstr("it returns no scalar")));
  const auto mean = train({"--loss", path("Mean.pt"), "--epochs", "1", "--output", path("a.pth")});
  EXPECT_EQ(mean.exit_code, 0) << mean.errors;
  const auto split = train({"--loss", path("Mean.pt"), "--epochs", "1", "--split",
                            "after:features.7", "--output", path("b.pth")});
  EXPECT_EQ(split.exit_code, 0) << split.errors;
  EXPECT_EQ(slurp(path("a.pth")), slurp(path("b.pth")));
}

}  // namespace
}  // namespace pareto::test
