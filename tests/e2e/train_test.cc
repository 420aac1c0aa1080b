// Training with the real coordinator and real daemons, as users do it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kSamples = 32;
constexpr int kClasses = 4;

/// Writes a .npy file of those bytes. `shape`: as Python writes it, "(16,)".
void write_array(const std::string& path, const char* type, const std::string& shape,
                 const void* data, std::size_t bytes) {
  std::string header =
      std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size() % 256)
       << static_cast<char>(header.size() / 256) << header;
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
}

void write_labels(const std::string& path, const std::vector<std::int64_t>& labels) {
  write_array(path, "<i8", "(" + std::to_string(labels.size()) + ",)", labels.data(),
              labels.size() * sizeof(std::int64_t));
}

/// Writes pictures of noise.
void write_pictures(const std::string& path) {
  std::mt19937 random(5);
  std::vector<float> numbers(static_cast<std::size_t>(kSamples) * 3 * 32 * 32);
  for (float& number : numbers) number = static_cast<float>(random() % 2001) / 1000 - 1;
  write_array(path, "<f4", "(" + std::to_string(kSamples) + ", 3, 32, 32)", numbers.data(),
              numbers.size() * sizeof(float));
}

class Train : public EndToEnd {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder() / "samples");
    write_pictures(path("samples/inputs.npy"));
    std::vector<std::int64_t> labels;
    for (int i = 0; i < kSamples; ++i) labels.push_back(i % kClasses);
    write_labels(path("samples/labels.npy"), labels);
  }

  /// Returns the arguments of a training of two epochs with four steps each, and `more`. Flags of
  /// `more` replace those.
  std::vector<std::string> with(const std::vector<std::string>& more) const {
    std::vector<std::pair<std::string, std::string>> flags{
        {"--model", "mobilenetv2"}, {"--input-shape", "3x32x32"},
        {"--num-classes", "4"},     {"--data", "npy:" + path("samples")},
        {"--batch", "8"},           {"--micro-batches", "2"},
        {"--epochs", "2"},          {"--learning-rate", "0.002"},
        {"--momentum", "0.9"},      {"--rate-schedule", "cosine"},
        {"--threads", "1"}};
    std::vector<std::string> arguments{"train"};
    for (const auto& [flag, value] : flags) {
      if (std::ranges::find(more, flag) != more.end()) continue;
      arguments.push_back(flag);
      arguments.push_back(value);
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  Finished train(const std::vector<std::string>& more) const { return paretoctl(with(more)); }

  /// Trains without a stop, uncut, and returns the bytes of the state_dict.
  std::string uncut() const {
    const auto done = train({"--output", path("uncut.pth")});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    const std::string bytes = slurp(path("uncut.pth"));
    EXPECT_FALSE(bytes.empty());
    return bytes;
  }

  /// Waits until a checkpoint of that many steps is there.
  bool wait_for_step(const std::string& folder, int step) const {
    const std::string name = "step-" + std::string(11, '0') + std::to_string(step);
    for (int i = 0; i < 6000; ++i) {
      if (std::filesystem::exists(path(folder) + "/" + name + "/manifest.json")) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
};

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

TEST_F(Train, GoesOnAfterAKillToTheSameBits) {
  const std::string expected = uncut();
  {
    auto arguments = with({"--split", "after:features.7", "--checkpoint", path("run"),
                           "--checkpoint-every", "1", "--keep", "100"});
    arguments.insert(arguments.begin(), "paretoctl");
    Process training(arguments);
    ASSERT_TRUE(wait_for_step("run", 3)) << training.errors();
    training.signal(SIGKILL);
    training.wait();
  }
  const auto resumed =
      paretoctl({"train", "--resume", path("run"), "--output", path("resumed.pth")});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_EQ(slurp(path("resumed.pth")), expected);
}

TEST_F(Train, GoesOnAfterALostDeviceToTheSameBits) {
  const std::string expected = uncut();
  const auto devices = [&](const Daemon& one, const Daemon& two) {
    return inventory({{"one", one.address()}, {"two", two.address()}});
  };
  const Daemon one("one", folder());
  {
    Daemon two("two", folder());
    auto arguments = with({"--split", "after:features.7", "--devices", devices(one, two),
                           "--checkpoint", path("run"), "--checkpoint-every", "1"});
    arguments.insert(arguments.begin(), "paretoctl");
    Process training(arguments);
    ASSERT_TRUE(wait_for_step("run", 2)) << training.errors();
    two.process().signal(SIGKILL);
    EXPECT_EQ(training.wait(), 1);
    EXPECT_THAT(training.errors(), AllOf(HasSubstr("two"), HasSubstr("--resume")));
  }
  const Daemon again("again", folder());
  const auto resumed = paretoctl({"train", "--resume", path("run"), "--devices",
                                  devices(one, again), "--output", path("resumed.pth")});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_EQ(slurp(path("resumed.pth")), expected);
}

// Twenty times the coordinator or one of the devices is killed, wherever the training stands then.
TEST_F(Train, KilledAtAnyMomentGoesOnToTheSameBits) {
  const std::vector<std::string> longer{"--epochs", "20"};
  auto whole = longer;
  whole.insert(whole.end(), {"--output", path("uncut.pth")});
  ASSERT_EQ(train(whole).exit_code, 0);
  std::mt19937 random(3);
  std::array<std::unique_ptr<Daemon>, 2> daemons;
  const auto inventory_of_both = [&] {
    for (std::size_t i = 0; i < daemons.size(); ++i) {
      if (!daemons[i]) daemons[i] = std::make_unique<Daemon>(i == 0 ? "one" : "two", folder());
    }
    return inventory({{"one", daemons[0]->address()}, {"two", daemons[1]->address()}});
  };
  for (int round = 0; round < 20; ++round) {
    auto arguments = longer;
    arguments.insert(arguments.end(), {"--split", "after:features.7", "--checkpoint", path("run")});
    arguments =
        round == 0 ? with(arguments) : std::vector<std::string>{"train", "--resume", path("run")};
    arguments.insert(arguments.end(),
                     {"--devices", inventory_of_both(), "--json", "--checkpoint-every", "1"});
    arguments.insert(arguments.begin(), "paretoctl");
    Process training(arguments);
    ASSERT_TRUE(training.wait_for_output("\"event\":\"step\"")) << training.errors();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 150'000));
    const std::size_t victim = random() % 3;
    if (victim < daemons.size()) {
      daemons[victim]->process().signal(SIGKILL);
      training.wait();
      daemons[victim].reset();
    } else {
      training.signal(SIGKILL);
      training.wait();
    }
    if (HasFailure()) return;
  }
  const auto resumed = paretoctl({"train", "--resume", path("run"), "--devices",
                                  inventory_of_both(), "--output", path("resumed.pth")});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_EQ(slurp(path("resumed.pth")), slurp(path("uncut.pth")));
}

TEST_F(Train, CtrlCEndsWithACheckpoint) {
  auto arguments = with({"--checkpoint", path("run"), "--epochs", "1000"});
  arguments.insert(arguments.begin(), "paretoctl");
  Process training(arguments);
  ASSERT_TRUE(training.wait_for_output("1/1000")) << training.errors();
  training.signal(SIGINT);
  EXPECT_EQ(training.wait(), 4) << training.errors();
  EXPECT_THAT(training.output(), AllOf(HasSubstr("stopped: --resume"), HasSubstr(path("run"))));
}

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
  EXPECT_EQ(done.exit_code, 2) << done.errors;
  EXPECT_THAT(done.errors, HasSubstr("pictures/cat/3.png"));
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

TEST_F(Train, AFullDiskLeavesTheLastCheckpointWhole) {
  const std::string expected = uncut();
  {
    auto arguments = with({"--checkpoint", path("run"), "--checkpoint-every", "1"});
    arguments.insert(arguments.begin(), "paretoctl");
    Process training(arguments);
    ASSERT_TRUE(wait_for_step("run", 2)) << training.errors();
    training.signal(SIGKILL);
    training.wait();
  }
  // Files may not grow beyond 1 MiB.
  const std::string paretoctl_path = std::string(PARETO_BIN_DIR) + "/paretoctl";
  const auto full =
      run({"/bin/sh", "-c", "trap '' XFSZ; ulimit -f 1024; exec \"$0\" train --resume \"$1\"",
           paretoctl_path, path("run")});
  EXPECT_EQ(full.exit_code, 1) << full.output;
  EXPECT_THAT(full.errors, AllOf(HasSubstr("tensors.bin"), HasSubstr("the last checkpoint")));
  const auto resumed =
      paretoctl({"train", "--resume", path("run"), "--output", path("resumed.pth")});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_EQ(slurp(path("resumed.pth")), expected);
}

}  // namespace
}  // namespace pareto::test
