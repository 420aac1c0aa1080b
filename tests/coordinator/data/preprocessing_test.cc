#include "coordinator/data/preprocessing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace pareto::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal(const std::string& text) {
  const auto made = parse_preprocessing(text, "steps.yaml");
  EXPECT_FALSE(made) << text;
  if (made) return {};
  EXPECT_EQ(made.error().code, ErrorCode::kInvalidArgument);
  return made.error().message;
}

TEST(Preprocessing, EveryKeyIsRead) {
  const auto made = parse_preprocessing(
      "grayscale: true\nresize: 40x50\ncrop: 32\ninterpolation: bicubic\nmean: [0.5]\nstd: [2]\n",
      "steps.yaml");
  ASSERT_TRUE(made) << made.error().message;
  Preprocessing expected;
  expected.grayscale = true;
  expected.size = {40, 50};
  expected.crop = {32, 32};
  expected.interpolation = Interpolation::kBicubic;
  expected.mean = {0.5F};
  expected.std = {2};
  EXPECT_EQ(*made, expected);
  EXPECT_EQ(parse_preprocessing("", "steps.yaml").value(), Preprocessing());
}

TEST(Preprocessing, WhatDoesNotFitIsRefusedWithItsLine) {
  EXPECT_THAT(refusal("resize: 0\n"), AllOf(HasSubstr("steps.yaml:1"), HasSubstr("resize")));
  EXPECT_THAT(refusal("\ncrop: 224x\n"), AllOf(HasSubstr("steps.yaml:2"), HasSubstr("crop")));
  for (const char* sides : {"1x2x3", "big", "-4", "99999", "x", "[1, 2]"}) {
    EXPECT_THAT(refusal(std::string("crop: ") + sides), HasSubstr("crop")) << sides;
  }
  EXPECT_THAT(refusal("interpolation: bilineer\n"), HasSubstr("bilinear"));
  EXPECT_THAT(refusal("mean: [1, 2]\n"), HasSubstr("3 numbers"));
  EXPECT_THAT(refusal("grayscale: true\nmean: [1, 2, 3]\n"), HasSubstr("1 number"));
  EXPECT_THAT(refusal("mean: [1, 2, three]\n"), HasSubstr("three"));
  EXPECT_THAT(refusal("mean: [1, 2, nan]\n"), HasSubstr("nan"));
  EXPECT_THAT(refusal("std: [1, 0, 1]\n"), HasSubstr("std"));
  EXPECT_THAT(refusal("cropp: 224\n"), HasSubstr("crop"));
}

TEST(Preprocessing, SamplesAreReadAndImagenetsIsTheDefault) {
  const std::filesystem::path folder = PARETO_SOURCE_DIR "/configs/preprocessing";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto made = read_preprocessing(entry.path());
    EXPECT_TRUE(made) << made.error().message;
    ++files;
  }
  EXPECT_GE(files, 4);
  EXPECT_EQ(read_preprocessing(folder / "imagenet.yaml").value(),
            imagenet_preprocessing({224, 224}));
  EXPECT_EQ(read_preprocessing(folder / "inception.yaml").value(),
            imagenet_preprocessing({299, 299}));
  EXPECT_EQ(read_preprocessing(folder / "cifar10.yaml").value(), cifar10_preprocessing({32, 32}));
}

TEST(Preprocessing, ItsSizeIsKnownIfItDoesNotDependOnThePicture) {
  Preprocessing how;
  EXPECT_EQ(size_after(how, std::nullopt), std::nullopt);
  EXPECT_EQ(size_after(how, PictureSize{3, 4}), (PictureSize{3, 4}));
  how.shorter_side = 6;
  EXPECT_EQ(size_after(how, std::nullopt), std::nullopt);
  EXPECT_EQ(size_after(how, PictureSize{3, 4}), (PictureSize{6, 8}));
  how.crop = {5, 7};
  EXPECT_EQ(size_after(how, std::nullopt), (PictureSize{5, 7}));
  EXPECT_EQ(size_after(cifar10_preprocessing({64, 64}), PictureSize{32, 32}),
            (PictureSize{64, 64}));
  EXPECT_EQ(size_after(imagenet_preprocessing({200, 300}), std::nullopt), (PictureSize{200, 300}));
}

}  // namespace
}  // namespace pareto::data
