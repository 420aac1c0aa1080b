// Pictures and inputs have the bits that Pillow and torchvision give them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "coordinator/data/preprocessing.h"
#include "core/base/file.h"
#include "tests/support/process.h"

namespace pareto::data {
namespace {

class OnPillow : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder(TemporaryFolder::create("pareto-pictures").value());
    const auto made =
        test::run({"/usr/bin/python3",
                   std::string(PARETO_SOURCE_DIR) + "/tests/coordinator/data/make_pictures.py",
                   folder_->path().string()});
    ASSERT_EQ(made.exit_code, 0) << "python3-torchvision must be installed: " << made.errors;
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::string content(const std::string& name) {
    return read_file(folder_->path() / name).value();
  }
  static Picture picture(const std::string& name) {
    const std::string file = content(name);
    auto made = decode_picture(std::as_bytes(std::span(file)));
    EXPECT_TRUE(made) << name << ": " << made.error().message;
    return made ? *std::move(made) : Picture{};
  }

  inline static TemporaryFolder* folder_ = nullptr;
};

TEST_F(OnPillow, EveryKindOfPictureHasItsPixels) {
  int pictures = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_->path())) {
    if (entry.path().extension() != ".rgb") continue;
    const std::string name = entry.path().stem().string();
    SCOPED_TRACE(name);
    std::istringstream expected(content(name + ".rgb"));
    PictureSize size;
    std::string line;
    std::getline(expected, line);
    std::istringstream(line) >> size.height >> size.width;
    const std::string bytes{std::istreambuf_iterator<char>(expected), {}};
    const Picture found = picture(name);
    EXPECT_EQ(found.size, size);
    ASSERT_EQ(found.bytes.size(), bytes.size());
    EXPECT_EQ(std::memcmp(found.bytes.data(), bytes.data(), bytes.size()), 0);
    ++pictures;
  }
  EXPECT_EQ(pictures, 15);
}

constexpr const char* kImagenet = "mean: [0.485, 0.456, 0.406]\nstd: [0.229, 0.224, 0.225]\n";

TEST_F(OnPillow, PreprocessingHasTorchvisionsBits) {
  const std::string imagenet = std::string("resize: 256\ncrop: 224\n") + kImagenet;
  const std::string bicubic =
      std::string("resize: 232\ncrop: 224\ninterpolation: bicubic\n") + kImagenet;
  const std::vector<std::pair<std::string, std::string>> all{
      {"plain", ""},
      {"imagenet", imagenet},
      {"bicubic", bicubic},
      {"odd", "resize: 37\ncrop: 30x36\n"},
      {"exact", "resize: 50x41\n"},
      {"padded", "crop: 203x150\n"},
      {"gray", "grayscale: true\nresize: 28\ncrop: 28\nmean: [0.1307]\nstd: [0.3081]\n"}};
  for (const auto& [steps, file] : all) {
    const auto how = parse_preprocessing(file, steps + ".yaml");
    ASSERT_TRUE(how) << how.error().message;
    for (const std::string name : {"large.jpg", "small.png"}) {
      SCOPED_TRACE(name + ", " + steps);
      const auto input = preprocess(picture(name), *how);
      ASSERT_TRUE(input) << input.error().message;
      const std::string expected = content(name + "." + steps + ".f32");
      ASSERT_EQ(input->size_bytes(), expected.size());
      EXPECT_EQ(std::memcmp(input->bytes().data(), expected.data(), expected.size()), 0);
    }
  }
}

}  // namespace
}  // namespace pareto::data
