// Training with the real coordinator and real daemons, as users do it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "tests/e2e/train_fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

TEST_F(Train, DaemonsGiveTheBitsOfTheUncutModel) {
  const std::string expected = uncut();
  const auto split = train({"--split", "after:features.7", "--output", path("split.pth")});
  ASSERT_EQ(split.exit_code, 0) << split.errors;
  EXPECT_EQ(slurp(path("split.pth")), expected);
  EXPECT_THAT(split.output, AllOf(HasSubstr("2/2"), HasSubstr("local-0"), HasSubstr("local-1"),
                                  HasSubstr("backward ms"), HasSubstr("split.pth")));
  const auto here = train({"--split", "after:features.3,after:features.11", "--in-process",
                           "--order", "fill-drain", "--output", path("here.pth")});
  ASSERT_EQ(here.exit_code, 0) << here.errors;
  EXPECT_EQ(slurp(path("here.pth")), expected);
}

TEST_F(Train, CountsWhatCodecsMadeOfActivationsAndGradients) {
  const auto done = train({"--split", "after:features.7", "--epochs", "1", "--codec", "int8",
                           "--gradient-codec", "int8", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const std::size_t begin = done.output.find("{\"event\":\"epoch\"");
  ASSERT_NE(begin, std::string::npos) << done.output;
  const json epoch = json::parse(done.output.substr(begin, done.output.find('\n', begin) - begin));
  for (const json& stage : epoch["stages"]) {
    EXPECT_LT(stage["bytes_sent"].get<double>(), 0.5 * stage["bytes_raw"].get<double>());
  }
}

TEST_F(Train, GoesOnWithItsCodecsAtTheSameCut) {
  const auto done = train({"--split", "after:features.7", "--codec", "fp16", "--rate-schedule",
                           "constant", "--checkpoint", path("run")});
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const auto go_on = [&](const std::string& epochs) {
    return paretoctl({"train", "--resume", path("run"), "--split", "after:features.7", "--epochs",
                      epochs, "--data", "npy:" + path("samples")});
  };
  const auto fewer = go_on("1");
  EXPECT_EQ(fewer.exit_code, 2);
  EXPECT_THAT(fewer.errors, HasSubstr("--epochs 1: the checkpoint is after epoch 2"));
  const auto on = go_on("3");
  EXPECT_EQ(on.exit_code, 0) << on.errors;
}

TEST_F(Train, CutsByItselfBeforeWhatIsNotFrozen) {
  const auto done = train({"--split", "auto", "--in-process", "--freeze", "classifier", "--epochs",
                           "1", "--output", path("auto.pth")});
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  const auto none = train({"--split", "auto", "--in-process", "--freeze", "features,classifier"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.errors, HasSubstr("no parameter behind it is trainable"));
}

TEST_F(Train, WritesWhatItPromises) {
  const auto done = train({"--validate", "npy:" + path("samples"), "--json", "--csv", path("t.csv"),
                           "--report", path("t.html"), "--checkpoint", path("run"), "--output",
                           path("m.pt") + "," + path("m.pth")});
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  std::vector<std::string> events;
  std::istringstream lines(done.output);
  for (std::string line; std::getline(lines, line);) {
    const json event = json::parse(line, nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(event.is_object()) << line;
    events.push_back(event["event"]);
    if (events.back() == "step") {
      EXPECT_GT(event["loss"], 0);
      EXPECT_EQ(event["samples"], 8);
      EXPECT_EQ(event["stages"].size(), 1U);
    }
    if (events.back() == "epoch") {
      EXPECT_EQ(event["validation"]["samples"], kSamples);
    }
  }
  EXPECT_THAT(events, testing::ElementsAre("start", "checkpoint", "step", "step", "step", "step",
                                           "checkpoint", "epoch", "step", "step", "step", "step",
                                           "checkpoint", "epoch", "end"));
  EXPECT_THAT(slurp(path("t.csv")), AllOf(HasSubstr("validation_accuracy"), HasSubstr("\n2,8,")));
  EXPECT_THAT(slurp(path("t.html")), AllOf(HasSubstr("<svg"), HasSubstr("Loss and accuracy")));
  // Both files open as models.
  for (const std::vector<std::string>& model :
       {std::vector<std::string>{"--model", path("m.pt")},
        std::vector<std::string>{"--model", "mobilenetv2", "--num-classes", "4", "--weights",
                                 path("m.pth")}}) {
    std::vector<std::string> arguments{"evaluate", "--input-shape", "3x32x32", "--data",
                                       "npy:" + path("samples")};
    arguments.insert(arguments.end(), model.begin(), model.end());
    const auto evaluated = paretoctl(arguments);
    EXPECT_EQ(evaluated.exit_code, 0) << evaluated.errors;
  }
}

/// Writes a file of CIFAR-10: noise, and a stripe that is a little brighter. Its place says the
/// label.
void write_cifar(const std::string& path, int samples, unsigned seed) {
  std::mt19937 random(seed);
  std::ofstream file(path, std::ios::binary);
  for (int i = 0; i < samples; ++i) {
    const int label = i % 10;
    file.put(static_cast<char>(label));
    for (int at = 0; at < 3 * 32 * 32; ++at) {
      const int row = at / 32 % 32;
      const unsigned bright = row / 3 == label ? 14 : 0;
      file.put(static_cast<char>(random() % 100 + bright));
    }
  }
}

TEST_F(Train, ASmallNetworkLearnsACifarTaskToTheUncutAccuracy) {
  std::filesystem::create_directory(folder() / "cifar");
  for (int i = 1; i <= 5; ++i) {
    write_cifar(path("cifar/data_batch_" + std::to_string(i) + ".bin"), 60,
                static_cast<unsigned>(i));
  }
  write_cifar(path("cifar/test_batch.bin"), 100, 9);
  const auto made = run({"/usr/bin/python3", "-c", R"(
import sys, torch
from torch import nn
torch.manual_seed(1)
net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                    nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                    nn.Flatten(), nn.Dropout(0.2), nn.Linear(16 * 8 * 8, 10)).eval()
torch.jit.trace(net, torch.rand(2, 3, 32, 32)).save(sys.argv[1])
)",
                         path("cnn.pt")});
  ASSERT_EQ(made.exit_code, 0) << "python3-torch must be installed: " << made.errors;
  const auto learn = [&](const std::string& output, std::vector<std::string> more) {
    std::vector<std::string> arguments{"train",
                                       "--model",
                                       path("cnn.pt"),
                                       "--input-shape",
                                       "3x32x32",
                                       "--data",
                                       "cifar10:" + path("cifar"),
                                       "--validate",
                                       "cifar10:" + path("cifar"),
                                       "--batch",
                                       "20",
                                       "--micro-batches",
                                       "2",
                                       "--epochs",
                                       "2",
                                       "--momentum",
                                       "0.9",
                                       "--learning-rate",
                                       "0.02",
                                       "--json",
                                       "--output",
                                       path(output)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto done = paretoctl(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    double accuracy = 0;
    std::istringstream lines(done.output);
    for (std::string line; std::getline(lines, line);) {
      const json event = json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (event.value("event", "") == "epoch") accuracy = event["validation"]["accuracy"];
    }
    return accuracy;
  };
  const double uncut = learn("uncut.pth", {});
  EXPECT_GT(uncut, 0.8);
  EXPECT_EQ(learn("split.pth", {"--split", "percent:50"}), uncut);
  EXPECT_EQ(slurp(path("split.pth")), slurp(path("uncut.pth")));
}

}  // namespace
}  // namespace pareto::test
