// Accuracy of the uncut model and of pipelines over real daemons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/e2e/fixture.h"
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

}  // namespace
}  // namespace pareto::test
