#include "coordinator/train/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/json_text.h"
#include "small_data.h"

namespace pareto::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TrainingSetup small_setup() {
  TrainingSetup setup;
  setup.source = {.model = "resnet18", .weights = "/data/w.pth", .model_seed = 4};
  setup.model = sha256("model");
  setup.plan.model = "resnet18";
  setup.plan.splits = {"after:layer2"};
  setup.plan.stages = {{.device = "a", .begin = 0, .end = 30},
                       {.device = "b", .begin = 30, .end = 69}};
  setup.settings.optimiser = {.name = "sgd", .momentum = 0.9, .nesterov = true};
  setup.settings.frozen = {"layer1"};
  setup.rate = {.base = 0.05, .schedule = kStepRate, .epochs = 3, .factor = 0.3, .warm_up = 7};
  setup.clip_norm = 1.5;
  setup.batches = {.batch = 64, .seed = 0xfedcba9876543210};
  setup.micro_batches = 4;
  setup.epochs = 9;
  setup.data = {.spec = "cifar10:/data", .samples = 50000, .classes = 10, .mark = sha256("data")};
  setup.validation = DataTitle{.spec = "cifar10:/data",
                               .preprocessing = "/data/usual.yaml",
                               .samples = 10000,
                               .classes = 10};
  setup.files = {.checkpoint_every = 20,
                 .keep = 5,
                 .outputs = {"/data/m.pt", "/data/m.pth"},
                 .csv = "/data/m.csv",
                 .report = "/data/m.html"};
  return setup;
}

Checkpoint small_checkpoint(std::int64_t step) {
  Checkpoint checkpoint{.setup = small_setup(), .progress = {}, .state = {}};
  checkpoint.progress.position = {
      .epoch = 1, .step_in_epoch = 3, .step = step, .micro_batches = 40};
  checkpoint.progress.history.losses.add(0, 2.25);
  checkpoint.progress.history.losses.add(1, 0.1);
  checkpoint.progress.history.epoch_so_far = {
      .steps = 3,
      .samples = 12,
      .loss = 0.1 + 0.2,
      .correct = 5,
      .seconds = 0.5,
      .stages = {{.forward = Nanoseconds(3), .bytes_sent = 9, .bytes_raw = 36}}};
  EpochRecord epoch{.epoch = 0,
                    .step = 7,
                    .learning_rate = 0.05,
                    .sums = {.steps = 7, .samples = 20, .loss = 1.0 / 3, .stages = {}},
                    .validation = Validation{
                        .samples = 9, .correct = 4, .cross_entropy = std::nan(""), .seconds = 1}};
  checkpoint.progress.history.epochs = {epoch};
  checkpoint.state = {{"fc.bias", tensor_of({2}, {1, 2})},
                      {"fc.weight", tensor_of({2, 3}, {1, 2, 3, 4, 5, static_cast<float>(step)})},
                      {"empty", tensor_of({0}, {})}};
  return checkpoint;
}

class CheckpointTest : public testing::Test {
 protected:
  CheckpointFolder open(std::size_t keep = 3) {
    auto folder = CheckpointFolder::open(path(), keep);
    EXPECT_TRUE(folder) << folder.error().message;
    return *std::move(folder);
  }
  fs::path path() const { return folder_.path() / "checkpoints"; }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path()))
      names.push_back(entry.path().filename());
    return names;
  }
  static std::string text_of(const fs::path& path) { return read_file(path).value(); }
  static void put(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  /// Writes the manifest with a change, as somebody who knows the format would.
  static void change(const fs::path& checkpoint,
                     const std::function<void(nlohmann::ordered_json&)>& changing) {
    auto json = nlohmann::ordered_json::parse(text_of(checkpoint / "manifest.json"));
    json.erase("sha256");
    changing(json);
    json["sha256"] = sha256(dump(json)).hex();
    put(checkpoint / "manifest.json", dump(json));
  }
  /// Expects that it is refused as damaged, with these words.
  static void expect_refused(const fs::path& checkpoint, const char* words) {
    const auto read = read_checkpoint(checkpoint);
    ASSERT_FALSE(read) << words;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt) << read.error().message;
    EXPECT_THAT(read.error().message, HasSubstr(words));
    EXPECT_THAT(read.error().message, HasSubstr(checkpoint.string()));
  }

  TemporaryFolder folder_ = TemporaryFolder::create("pareto-checkpoint-test").value();
};

TEST_F(CheckpointTest, IsReadAsItWasWritten) {
  CheckpointFolder folder = open();
  const Checkpoint written = small_checkpoint(10);
  const auto path = folder.write(written);
  ASSERT_TRUE(path) << path.error().message;
  const auto read = read_checkpoint(*path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(differences(written.setup, read->setup), IsEmpty());
  EXPECT_EQ(read->setup.source, written.setup.source);
  EXPECT_EQ(read->setup.plan, written.setup.plan);
  EXPECT_EQ(training_json(read->setup.settings), training_json(written.setup.settings));
  EXPECT_EQ(read->setup.rate, written.setup.rate);
  EXPECT_EQ(read->setup.batches, written.setup.batches);
  EXPECT_EQ(read->setup.data, written.setup.data);
  EXPECT_EQ(read->setup.validation, written.setup.validation);
  EXPECT_EQ(read->setup.files, written.setup.files);
  EXPECT_EQ(read->progress.position, written.progress.position);
  EXPECT_EQ(read->progress.history.losses, written.progress.history.losses);
  EXPECT_EQ(read->progress.history.epoch_so_far.loss, 0.1 + 0.2);
  EXPECT_EQ(read->progress.history.epoch_so_far.stages.front().bytes_sent, 9);
  EXPECT_EQ(read->progress.history.epoch_so_far.stages.front().bytes_raw, 36);
  ASSERT_THAT(read->progress.history.epochs, SizeIs(1));
  EXPECT_EQ(read->progress.history.epochs.front().sums.loss, 1.0 / 3);
  EXPECT_TRUE(std::isnan(read->progress.history.epochs.front().validation->cross_entropy));
  ASSERT_EQ(read->state.size(), written.state.size());
  for (std::size_t i = 0; i < read->state.size(); ++i) {
    EXPECT_EQ(read->state[i].name, written.state[i].name);
    EXPECT_TRUE(bit_equal(read->state[i].tensor, written.state[i].tensor));
  }
}

TEST_F(CheckpointTest, OfAnEarlierVersionHasNoFiles) {
  const auto path = open().write(small_checkpoint(10));
  ASSERT_TRUE(path) << path.error().message;
  change(*path, [](auto& json) { json["setup"].erase("files"); });
  const auto read = read_checkpoint(*path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->setup.files, TrainingFiles());
  change(*path, [](auto& json) { json["setup"]["files"] = {{"checkpoint_every", -1}}; });
  expect_refused(*path, "checkpoint_every");
}

TEST_F(CheckpointTest, KeepsTheNewestOnes) {
  CheckpointFolder folder = open(/*keep=*/2);
  for (const std::int64_t step : {0, 5, 10, 1000})
    ASSERT_TRUE(folder.write(small_checkpoint(step)));
  EXPECT_THAT(names(), testing::UnorderedElementsAre("step-000000000010", "step-000000001000"));
  const auto newest = newest_checkpoint(path());
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->checkpoint.progress.position.step, 1000);
  EXPECT_THAT(newest->damaged, IsEmpty());
  // The folder of one checkpoint is that one.
  const auto older = newest_checkpoint(path() / "step-000000000010");
  ASSERT_TRUE(older);
  EXPECT_EQ(older->checkpoint.progress.position.step, 10);
}

TEST_F(CheckpointTest, TakesTheNewestThatIsWhole) {
  CheckpointFolder folder = open();
  for (const std::int64_t step : {5, 10, 15}) ASSERT_TRUE(folder.write(small_checkpoint(step)));
  const fs::path tensors = path() / "step-000000000015" / "tensors.bin";
  std::string bytes = text_of(tensors);
  bytes[9] ^= 1;
  put(tensors, bytes);
  fs::remove(path() / "step-000000000010" / "tensors.bin");
  const auto found = newest_checkpoint(path());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->checkpoint.progress.position.step, 5);
  ASSERT_THAT(found->damaged, SizeIs(2));
  EXPECT_THAT(found->damaged.front(), HasSubstr("the bytes of \"fc.weight\""));
  // Its place is taken by a whole one.
  ASSERT_TRUE(folder.write(small_checkpoint(15)));
  EXPECT_EQ(newest_checkpoint(path())->checkpoint.progress.position.step, 15);
  EXPECT_THAT(names(), SizeIs(3));
}

TEST_F(CheckpointTest, IsThereAtEveryMomentWhileItIsReplaced) {
  CheckpointFolder folder = open();
  const auto path = folder.write(small_checkpoint(5));
  ASSERT_TRUE(path) << path.error().message;
  std::atomic<bool> done{false};
  std::int64_t absent = 0;
  std::int64_t looks = 0;
  {
    const std::jthread watching([&] {
      while (!done) {
        absent += fs::exists(*path / "manifest.json") ? 0 : 1;
        ++looks;
      }
    });
    for (int i = 0; i < 30; ++i) EXPECT_TRUE(folder.write(small_checkpoint(5)));
    done = true;
  }
  EXPECT_EQ(absent, 0) << "of " << looks;
  EXPECT_THAT(names(), SizeIs(1));
}

TEST_F(CheckpointTest, OneThatWasPutAsideGetsItsPlaceAgain) {
  for (const std::int64_t step : {5, 10}) ASSERT_TRUE(open().write(small_checkpoint(step)));
  fs::rename(path() / "step-000000000010", path() / ".replaced-step-000000000010");
  fs::create_directory(path() / ".replaced-step-000000000005");
  fs::create_directory(path() / ".writing-step-000000000015");
  const CheckpointFolder folder = open();
  EXPECT_THAT(names(), testing::UnorderedElementsAre("step-000000000005", "step-000000000010"));
  EXPECT_EQ(newest_checkpoint(path())->checkpoint.progress.position.step, 10);
}

TEST_F(CheckpointTest, FoldersWithoutOneSaySo) {
  const auto absent = newest_checkpoint(folder_.path() / "nowhere");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  open();
  const auto empty = newest_checkpoint(path());
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(empty.error().message, HasSubstr("no checkpoint in it"));
}

TEST_F(CheckpointTest, ForeignBytesAreRefused) {
  CheckpointFolder folder = open(/*keep=*/100);
  const auto make = [&] {
    const auto path = folder.write(small_checkpoint(1));
    EXPECT_TRUE(path);
    return *path;
  };
  const fs::path manifest = make() / "manifest.json";
  const fs::path checkpoint = manifest.parent_path();
  put(manifest, "{");
  expect_refused(checkpoint, "manifest.json");
  put(manifest, "[1]");
  expect_refused(checkpoint, "no manifest of a checkpoint");
  make();
  std::string text = text_of(manifest);
  text.replace(text.find("\"step\": 1"), 9, "\"step\": 2");
  put(manifest, text);
  expect_refused(checkpoint, "its bytes are not those that were written");
  make();
  change(checkpoint, [](auto& json) { json["version"] = 2; });
  expect_refused(checkpoint, "version 2");
  make();
  change(checkpoint, [](auto& json) {
    json["tensors"][0]["shape"] = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  });
  expect_refused(checkpoint, "fc.bias");
  make();
  change(checkpoint, [](auto& json) { json["tensors"][0]["shape"] = {std::int64_t{1} << 50}; });
  expect_refused(checkpoint, "tensors.bin has 32 bytes");
  make();
  change(checkpoint, [](auto& json) { json["tensors"][0]["shape"] = {-2}; });
  expect_refused(checkpoint, "fc.bias");
  make();
  change(checkpoint, [](auto& json) { json["tensors"][1]["name"] = "fc.bias"; });
  expect_refused(checkpoint, "twice");
  make();
  change(checkpoint, [](auto& json) { json["tensors"][1]["dtype"] = "float31"; });
  expect_refused(checkpoint, "float31");
  make();
  change(checkpoint, [](auto& json) { json["progress"]["position"]["step"] = -1; });
  expect_refused(checkpoint, "\"step\" is out of range");
  make();
  change(checkpoint, [](auto& json) { json["setup"].erase("batches"); });
  expect_refused(checkpoint, "\"batches\" is missing");
  make();
  change(checkpoint, [](auto& json) {
    json["progress"]["losses"]["points"] = nlohmann::ordered_json::array({1});
  });
  expect_refused(checkpoint, "progress");
  make();
  put(checkpoint / "tensors.bin", text_of(checkpoint / "tensors.bin") + "x");
  expect_refused(checkpoint, "33 bytes");
  make();
  fs::remove(checkpoint / "tensors.bin");
  fs::create_directory(checkpoint / "tensors.bin");
  expect_refused(checkpoint, "tensors.bin");
}

/// Limits the size of files, as a full disk does; restored at its end.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(CheckpointTest, AFullDiskLeavesTheLastOneWhole) {
  CheckpointFolder folder = open(/*keep=*/1);
  ASSERT_TRUE(folder.write(small_checkpoint(5)));
  // Room for neither file, then for the tensors only.
  for (const rlim_t room : {16, 100}) {
    const SmallDisk disk(room);
    const auto written = folder.write(small_checkpoint(6));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::kExhausted) << written.error().message;
    EXPECT_THAT(written.error().message,
                testing::AllOf(HasSubstr("step-000000000006"), HasSubstr("free some space")));
  }
  EXPECT_THAT(names(), testing::ElementsAre("step-000000000005"));
  EXPECT_EQ(newest_checkpoint(path())->checkpoint.progress.position.step, 5);
}

TEST_F(CheckpointTest, AFolderBelongsToOneTraining) {
  {
    const CheckpointFolder folder = open();
    const auto second = CheckpointFolder::open(path(), 3);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(second.error().message, HasSubstr("another training"));
  }
  // What one that was killed has left is removed.
  fs::create_directory(path() / ".writing-step-000000000009");
  put(path() / ".writing-step-000000000009" / "tensors.bin", "half");
  open();
  EXPECT_THAT(names(), IsEmpty());
  put(folder_.path() / "file", "");
  EXPECT_FALSE(CheckpointFolder::open(folder_.path() / "file", 3));
}

}  // namespace
}  // namespace pareto::train
