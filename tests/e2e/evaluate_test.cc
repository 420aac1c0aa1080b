// Accuracy of the uncut model and of pipelines over real daemons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/e2e/fixture.h"
#include "tests/support/environment.h"
#include "tests/support/json_schema.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class Evaluate : public EndToEnd {
 protected:
  static std::vector<std::string> with(std::vector<std::string> more) {
    std::vector<std::string> arguments{"evaluate"};
    for (const std::string& word : small_model()) arguments.push_back(word);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  static json evaluated(std::vector<std::string> more) {
    more.emplace_back("--json");
    const auto done = paretoctl(with(std::move(more)));
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    json document = json::parse(done.output, nullptr, /*allow_exceptions=*/false);
    EXPECT_THAT(violations(golden_schema("evaluate"), document), IsEmpty()) << done.output;
    return document;
  }
  /// Writes CIFAR-10's test file with these labels, and pictures that differ.
  void write_cifar(const std::vector<int>& labels) const {
    std::ofstream file(path("test_batch.bin"), std::ios::binary);
    for (const int label : labels) {
      file.put(static_cast<char>(label));
      for (int i = 0; i < 3072; ++i) file.put(static_cast<char>((i * (label + 3) / 7 + i) % 256));
    }
  }
};

TEST_F(Evaluate, ALosslessPipelineAnswersWithTheUncutModelsBits) {
  // Devices have one thread here, and LibTorch 2 rounds otherwise with more.
  const EnvironmentVariable threads("OMP_NUM_THREADS", "1");
  const json document = evaluated({"--data", "synthetic", "--limit", "21", "--split", "percent:50",
                                   "--engine", "plain", "--batch", "4"});
  EXPECT_EQ(document["samples"], 21);
  EXPECT_EQ(document["of"], 1024);
  EXPECT_EQ(document["pipeline"]["bit_equal"]["count"], 21);
  EXPECT_EQ(document["pipeline"]["agreement"]["share"], 1);
  EXPECT_EQ(document["pipeline"]["top1"], document["uncut"]["top1"]);
}

TEST_F(Evaluate, ACodecChangesBitsAndIsNamed) {
  const json document = evaluated(
      {"--data", "synthetic", "--limit", "12", "--split", "percent:50", "--codec", "int8"});
  EXPECT_LT(document["pipeline"]["bit_equal"]["count"], 12);
  EXPECT_EQ(document["pipeline"]["plan"]["codecs"], json({"int8"}));
}

TEST_F(Evaluate, TheUncutModelNeedsNoDevices) {
  write_cifar({0, 3, 9, 1, 4});
  const auto done = paretoctl(with({"--data", "cifar10:" + folder().string()}));
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.output, AllOf(HasSubstr("5 samples"), HasSubstr("top-1"), HasSubstr("uncut")));
}

TEST_F(Evaluate, BadDataIsNamed) {
  const auto refused = [&](const std::vector<std::string>& more, int exit_code,
                           const testing::Matcher<const std::string&>& sentence) {
    const auto done = paretoctl(with(more));
    EXPECT_EQ(done.exit_code, exit_code) << done.output;
    EXPECT_THAT(done.errors, sentence);
  };
  refused({"--data", path("absent")}, 2, AllOf(HasSubstr("--data"), HasSubstr("absent")));
  refused({"--data", "imagenet:" + path("")}, 2, HasSubstr("no data set"));
  write_cifar({0, 3, 17});
  refused({"--data", "cifar10:" + folder().string()}, 2,
          AllOf(HasSubstr("record 2"), HasSubstr("label 17")));
  std::filesystem::create_directories(folder() / "pictures" / "cat");
  std::ofstream(folder() / "pictures" / "classes.txt") << "cat\n";
  std::ofstream(folder() / "pictures" / "cat" / "broken.jpg", std::ios::binary) << "\xff\xd8\xff";
  refused({"--data", path("pictures")}, 2,
          AllOf(HasSubstr("cat/broken.jpg"), HasSubstr("damaged JPEG")));
  std::ofstream(folder() / "steps.yaml") << "crop: 17\n";
  refused({"--data", path("pictures"), "--preprocess", path("steps.yaml")}, 2,
          AllOf(HasSubstr("3x17x17"), HasSubstr("--preprocess")));
}

/// A model that a lossy codec breaks, with samples that the uncut one answers rightly.
class EvaluateFragile : public Evaluate {
 protected:
  void SetUp() override {
    const auto made =
        run({"/usr/bin/python3", std::string(PARETO_SOURCE_DIR) + "/tests/e2e/make_fragile.py",
             folder().string()});
    ASSERT_EQ(made.exit_code, 0) << "python3-torch is needed: " << made.errors;
  }
  std::vector<std::string> sweep(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"sweep",
                                       "--model",
                                       path("fragile.pt"),
                                       "--input-shape",
                                       "16",
                                       "--splits",
                                       "after:first",
                                       "--transport",
                                       "tcp",
                                       "--codec",
                                       "none,int8",
                                       "--engine",
                                       "plain",
                                       "--rounds",
                                       "1",
                                       "--requests",
                                       "3",
                                       "--exhaustive",
                                       "--store",
                                       path("results.db"),
                                       "--report",
                                       "none",
                                       "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  static json trial_of(const json& run, const std::string& codec) {
    for (const json& trial : run["trials"]) {
      if (trial["codec"] == codec && !trial["split"].is_null()) return trial;
    }
    throw std::runtime_error("no trial with codec " + codec);
  }
};

TEST_F(EvaluateFragile, ASweepRefusesPlansBelowTheLeastAccuracy) {
  const auto done =
      paretoctl(sweep({"--dataset", "npy:" + folder().string(), "--min-accuracy", "99%"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json run = json::parse(done.output);
  EXPECT_THAT(violations(golden_schema("sweep"), run), IsEmpty());
  const json lossy = trial_of(run, "int8");
  EXPECT_EQ(lossy["status"], "refused");
  EXPECT_THAT(lossy["failure"], AllOf(HasSubstr("top-1 is"), HasSubstr("99 %"),
                                      HasSubstr("100.00 %"), HasSubstr("--min-accuracy")));
  EXPECT_EQ(lossy["on_front"], false);
  EXPECT_EQ(lossy["accuracy"]["was_run"], true);
  EXPECT_LT(lossy["accuracy"]["right"], 39);
  for (const json& trial : run["trials"]) {
    if (trial["status"] == "refused") continue;
    EXPECT_EQ(trial["status"], "ok") << trial.dump(1);
    EXPECT_EQ(trial["accuracy"]["was_run"], false);
    EXPECT_EQ(trial["accuracy"]["top1"], 1);
    EXPECT_EQ(trial["objectives"]["accuracy"], 100);
  }
  // It stays refused, and nothing else is left to do.
  const auto shown = paretoctl({"front", "--store", path("results.db")});
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  EXPECT_THAT(shown.output, AllOf(HasSubstr("not measured"), HasSubstr("--min-accuracy"),
                                  HasSubstr("3 of 4 plans lose nothing and were not run")));
  const auto again = paretoctl({"sweep", "--resume", "last", "--store", path("results.db")});
  EXPECT_THAT(again.errors, HasSubstr("is finished"));
}

TEST_F(EvaluateFragile, AccuracyIsAnAxisOfTheFront) {
  const auto done = paretoctl(sweep({"--dataset", "npy:" + folder().string(), "--limit", "20",
                                     "--objectives", "accuracy,network_bytes"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json run = json::parse(done.output);
  EXPECT_EQ(run["axes"], json({"accuracy", "network_bytes"}));
  const json lossy = trial_of(run, "int8");
  const json lossless = trial_of(run, "none");
  EXPECT_EQ(lossy["status"], "ok");
  EXPECT_EQ(lossy["accuracy"]["samples"], 20);
  EXPECT_LT(lossy["objectives"]["accuracy"], lossless["objectives"]["accuracy"]);
}

TEST_F(EvaluateFragile, WhatDoesNotGoTogetherIsRefused) {
  const auto alone = paretoctl(sweep({"--min-accuracy", "99%"}));
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.errors, HasSubstr("--dataset"));
  const auto share =
      paretoctl(sweep({"--dataset", "npy:" + folder().string(), "--min-accuracy", "nearly"}));
  EXPECT_EQ(share.exit_code, 2);
  EXPECT_THAT(share.errors, HasSubstr("--min-accuracy"));
  const auto absent = paretoctl(sweep({"--dataset", "npy:" + path("absent")}));
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_THAT(absent.errors, AllOf(HasSubstr("--dataset"), HasSubstr("absent/inputs.npy")));
}

TEST_F(EvaluateFragile, APlanLeavesOutCodecsThatCostTooMuchAccuracy) {
  const std::vector<std::string> arguments{"plan",
                                           "--model",
                                           path("fragile.pt"),
                                           "--input-shape",
                                           "16",
                                           "--splits",
                                           "after:first",
                                           "--codec",
                                           "none,int8",
                                           "--transport",
                                           "tcp",
                                           "--first",
                                           "local-0",
                                           "--last",
                                           "local-1",
                                           "--network",
                                           "lte",
                                           "--by-definition",
                                           "--store",
                                           path("results.db"),
                                           "--engine",
                                           "plain",
                                           "--dataset",
                                           "npy:" + folder().string(),
                                           "--json"};
  const auto planned = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), more.begin(), more.end());
    const auto done = paretoctl(all);
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    json document = json::parse(done.output, nullptr, /*allow_exceptions=*/false);
    EXPECT_THAT(violations(golden_schema("plan"), document), IsEmpty()) << done.output;
    return document;
  };
  const json any = planned({});
  ASSERT_FALSE(any["networks"][0]["front"].empty());
  const json& fastest = any["networks"][0]["front"][0];
  EXPECT_EQ(fastest["plan"]["codecs"], json({"int8"}));
  EXPECT_EQ(fastest["accuracy"]["was_run"], true);
  EXPECT_LT(fastest["accuracy"]["top1"], 0.99);
  EXPECT_THAT(any["left_out"], IsEmpty());

  const json kept = planned({"--min-accuracy", "99%"});
  ASSERT_EQ(kept["left_out"].size(), 1U);
  EXPECT_THAT(kept["left_out"][0], AllOf(HasSubstr("int8"), HasSubstr("top-1 is")));
  EXPECT_EQ(kept["codecs"], json({"none"}));
  ASSERT_FALSE(kept["networks"][0]["front"].empty());
  for (const json& point : kept["networks"][0]["front"]) {
    EXPECT_EQ(point["accuracy"]["was_run"], false);
    EXPECT_EQ(point["accuracy"]["top1"], 1);
  }
}

}  // namespace
}  // namespace pareto::test
