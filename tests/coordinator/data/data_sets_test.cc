// Data sets of files: what they hold, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "coordinator/data/data_set.h"
#include "coordinator/data/open_data_set.h"
#include "core/base/file.h"
#include "core/tensor/npy.h"
#include "tests/coordinator/data/pictures.h"

namespace pareto::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class DataSets : public testing::Test {
 protected:
  DataSets() : folder_(TemporaryFolder::create("pareto-data").value()) {}
  std::string path(const std::string& name = {}) const {
    return name.empty() ? folder_.path().string() : (folder_.path() / name).string();
  }
  void write(const std::string& name, const std::string& bytes) const {
    write_file(folder_.path() / name, bytes);
  }
  static std::unique_ptr<DataSet> opened(const std::string& spec,
                                         const DataSetOptions& options = {}) {
    auto data = open_data_set(spec, options);
    EXPECT_TRUE(data) << data.error().message;
    return data ? *std::move(data) : nullptr;
  }
  static void refused(const std::string& spec, const DataSetOptions& options, ErrorCode code,
                      const testing::Matcher<const std::string&>& sentence) {
    const auto data = open_data_set(spec, options);
    ASSERT_FALSE(data);
    EXPECT_EQ(data.error().code, code) << data.error().message;
    EXPECT_THAT(data.error().message, sentence);
  }
  static std::vector<std::int64_t> labels_of(const DataSet& data) {
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < data.size(); ++i) labels.push_back(data.sample(i).value().label);
    return labels;
  }

  TemporaryFolder folder_;
};

const DataSetOptions kSmall{.input_shape = {3, 8, 8}};

TEST_F(DataSets, AFolderOfPicturesHasItsClassesInTheOrderOfTheirNames) {
  write("dog/b.PNG", png_bytes(8, 8));
  write("dog/a.jpg", jpeg_bytes(12, 9));
  write("cat/deeper/x.jpeg", jpeg_bytes(30, 9));
  write("cat/notes.txt", "no picture");
  write(".hidden/x.png", "not looked at");
  const auto data = opened(path(), kSmall);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->title(), path());
  EXPECT_EQ(data->size(), 3);
  EXPECT_EQ(data->classes(), 2);
  EXPECT_THAT(data->class_names(), ElementsAre("cat", "dog"));
  EXPECT_THAT(labels_of(*data), ElementsAre(0, 1, 1));
  EXPECT_EQ(data->sample(1)->input.shape(), (Shape{3, 8, 8}));
  EXPECT_EQ(data->sample(3).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(DataSets, ABrokenPictureIsNamedAndTheOthersAreRead) {
  write("a/good.png", png_bytes(8, 8));
  write("b/broken.jpg", jpeg_bytes(20, 20).substr(0, 300));
  write("b/picture.png", "this is text");
  const auto data = opened(path(), kSmall);
  ASSERT_TRUE(data);
  EXPECT_TRUE(data->sample(0));
  const auto broken = data->sample(1);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(broken.error().message, AllOf(HasSubstr("b/broken.jpg"), HasSubstr("damaged JPEG")));
  EXPECT_THAT(make_batch(*data, {0, 2}).error().message, HasSubstr("b/picture.png"));
  std::filesystem::remove(path("a/good.png"));
  EXPECT_EQ(data->sample(0).error().code, ErrorCode::kNotFound);
}

TEST_F(DataSets, FoldersThatAreNoDataSetAreRefused) {
  refused(path("absent"), {}, ErrorCode::kNotFound, HasSubstr("absent"));
  refused(path(), {}, ErrorCode::kInvalidArgument, HasSubstr("no folder for each class"));
  write("x.png", png_bytes(8, 8));
  refused(path(), {}, ErrorCode::kInvalidArgument, HasSubstr("but pictures"));
  std::filesystem::create_directory(path("empty"));
  refused(path(), {}, ErrorCode::kInvalidArgument,
          AllOf(HasSubstr("empty"), HasSubstr("no JPEG or PNG")));
  write("empty/x.webp", "RIFF");
  refused(path(), {}, ErrorCode::kInvalidArgument,
          AllOf(HasSubstr("empty/x.webp"), HasSubstr("only JPEG and PNG")));
  refused(path("x.png"), {}, ErrorCode::kInvalidArgument, HasSubstr("x.png"));
}

TEST_F(DataSets, AListSaysWhichClassAFolderIs) {
  write("n02/x.png", png_bytes(8, 8));
  write("n09/x.png", png_bytes(8, 8));
  DataSetOptions options = kSmall;
  options.classes = 4;
  refused(path(), options, ErrorCode::kInvalidArgument,
          AllOf(HasSubstr("2 classes"), HasSubstr("classes.txt")));
  write("classes.txt", "n00\nn09\r\nn05\nn02\n");
  const auto data = opened(path(), options);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->classes(), 4);
  EXPECT_THAT(labels_of(*data), ElementsAre(3, 1));
  options.classes = 3;
  refused(path(), options, ErrorCode::kInvalidArgument, HasSubstr("4 classes"));
  write("classes.txt", "n00\nn09\n");
  refused(path(), {}, ErrorCode::kInvalidArgument, HasSubstr("lacks n02"));
  write("classes.txt", "n02\nn09\nn02\n");
  refused(path(), {}, ErrorCode::kInvalidArgument, HasSubstr("n02 twice"));
}

TEST_F(DataSets, ALabelMeansTheSameInTrainingAndValidation) {
  for (const char* name : {"train/cat/x.png", "train/dog/x.png", "same/cat/y.png", "same/dog/y.png",
                           "other/cat/x.png", "other/owl/x.png", "fewer/dog/x.png"}) {
    write(name, png_bytes(8, 8));
  }
  const auto train = opened(path("train"), kSmall);
  EXPECT_TRUE(check_same_classes(*train, *opened(path("same"), kSmall)));
  EXPECT_TRUE(check_same_classes(*train, *opened("synthetic:2", kSmall)));
  EXPECT_THAT(
      check_same_classes(*train, *opened(path("other"), kSmall)).error().message,
      AllOf(HasSubstr("class 1 is \"dog\" in"), HasSubstr("\"owl\" in"), HasSubstr("classes.txt")));
  EXPECT_THAT(check_same_classes(*train, *opened(path("fewer"), kSmall)).error().message,
              AllOf(HasSubstr("class 0 is \"cat\""), HasSubstr("\"dog\" in")));
}

TEST_F(DataSets, PreprocessingHasToMakeWhatTheModelTakes) {
  write("a/x.png", png_bytes(16, 16));
  DataSetOptions options{.preprocessing = Preprocessing{}, .input_shape = {3, 8, 8}};
  options.preprocessing->crop = {9, 9};
  refused(path(), options, ErrorCode::kInvalidArgument,
          AllOf(HasSubstr("3x9x9"), HasSubstr("3x8x8"), HasSubstr("--preprocess")));
  options.preprocessing->crop = {8, 8};
  EXPECT_TRUE(opened(path(), options));
  options.input_shape = {1, 8, 8};
  refused(path(), options, ErrorCode::kInvalidArgument, HasSubstr("grayscale"));
  options.preprocessing->grayscale = true;
  EXPECT_EQ(opened(path(), options)->sample(0)->input.shape(), (Shape{1, 8, 8}));
}

TEST_F(DataSets, SamplesOfDifferentShapesMakeNoBatch) {
  write("a/x.png", png_bytes(16, 16));
  write("a/y.png", png_bytes(16, 17));
  const auto data = opened(path(), {.preprocessing = Preprocessing{}});
  const auto batch = make_batch(*data, {0, 1});
  ASSERT_FALSE(batch);
  EXPECT_THAT(batch.error().message,
              AllOf(HasSubstr("3x16x16"), HasSubstr("3x16x17"), HasSubstr("crop")));
  EXPECT_FALSE(make_batch(*data, {}));
}

/// Returns records of CIFAR-10's format whose labels these are.
std::string cifar_records(const std::string& labels, int seed = 0) {
  std::string file;
  for (const char label : labels) {
    file += label;
    for (int i = 0; i < 3072; ++i) file += static_cast<char>((i * 7 + label + seed) % 251);
  }
  return file;
}

TEST_F(DataSets, CifarsFilesAreReadInTheirOrder) {
  for (int i = 1; i <= 5; ++i) {
    write("data_batch_" + std::to_string(i) + ".bin", cifar_records({char(i), char(i - 1)}, i));
  }
  write("test_batch.bin", cifar_records(std::string("\x09\x00\x04", 3)));
  write("batches.meta.txt",
        "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n");
  const auto test = opened("cifar10:" + path());
  ASSERT_TRUE(test);
  EXPECT_EQ(test->title(), "cifar10:" + path() + " (test)");
  EXPECT_THAT(labels_of(*test), ElementsAre(9, 0, 4));
  EXPECT_EQ(test->class_names().at(9), "truck");
  const auto train =
      opened("cifar10:" + path(), {.part = Part::kTrain, .preprocessing = Preprocessing{}});
  ASSERT_TRUE(train);
  EXPECT_THAT(labels_of(*train), ElementsAre(1, 0, 2, 1, 3, 2, 4, 3, 5, 4));
  const auto batch = make_batch(*train, {9, 2});
  ASSERT_TRUE(batch) << batch.error().message;
  const Tensor& inputs = *batch->inputs.at(0).get_if<Tensor>();
  EXPECT_EQ(inputs.shape(), (Shape{2, 3, 32, 32}));
  EXPECT_EQ(batch->samples, 2);
  std::vector<std::int64_t> labels(2);
  std::memcpy(labels.data(), batch->labels.get_if<Tensor>()->bytes().data(), 16);
  EXPECT_THAT(labels, ElementsAre(4, 2));
  const auto* values = reinterpret_cast<const float*>(inputs.bytes().data());
  // Element 1100 of a record is in the green plane: label 4, seed 5.
  EXPECT_EQ(values[1100], static_cast<float>((1100 * 7 + 4 + 5) % 251) / 255.0F);
  // A larger model gets larger pictures.
  EXPECT_EQ(opened("cifar10:" + path(), {.input_shape = {3, 40, 40}})->sample(0)->input.shape(),
            (Shape{3, 40, 40}));
}

TEST_F(DataSets, DamagedFilesOfCifarAreNamed) {
  refused("cifar10:", {}, ErrorCode::kInvalidArgument, HasSubstr("cifar10:DIR"));
  refused("cifar10:" + path(), {}, ErrorCode::kNotFound, HasSubstr("test_batch.bin"));
  write("test_batch.bin", cifar_records("\x01").substr(0, 3000));
  refused("cifar10:" + path(), {}, ErrorCode::kCorrupt,
          AllOf(HasSubstr("test_batch.bin"), HasSubstr("3000 bytes")));
  write("test_batch.bin", "");
  refused("cifar10:" + path(), {}, ErrorCode::kCorrupt, HasSubstr("0 bytes"));
  write("test_batch.bin", cifar_records("\x01\x0a\x02"));
  refused("cifar10:" + path(), {}, ErrorCode::kInvalidArgument,
          AllOf(HasSubstr("record 1"), HasSubstr("label 10"), HasSubstr("10 classes")));
  write("test_batch.bin", cifar_records("\x01\x02"));
  refused("cifar10:" + path(), {.classes = 9}, ErrorCode::kInvalidArgument, HasSubstr("9 apart"));
  const auto data = opened("cifar10:" + path());
  std::filesystem::resize_file(path("test_batch.bin"), 4000);
  EXPECT_TRUE(data->sample(0));
  EXPECT_EQ(data->sample(1).error().code, ErrorCode::kCorrupt);
}

Tensor floats(Shape shape) {
  Tensor tensor = Tensor::allocate(DType::kFloat32, std::move(shape)).value();
  auto* values = reinterpret_cast<float*>(tensor.mutable_bytes().data());
  for (std::size_t i = 0; i < tensor.size_bytes() / 4; ++i) values[i] = static_cast<float>(i);
  return tensor;
}

Tensor integers(const std::vector<std::int64_t>& values) {
  Tensor tensor =
      Tensor::allocate(DType::kInt64, {static_cast<std::int64_t>(values.size())}).value();
  if (!values.empty()) {
    std::memcpy(tensor.mutable_bytes().data(), values.data(), tensor.size_bytes());
  }
  return tensor;
}

TEST_F(DataSets, NpyFilesAreReadByRows) {
  ASSERT_TRUE(write_npy(path("inputs.npy"), floats({3, 2, 5})));
  ASSERT_TRUE(write_npy(path("labels.npy"), integers({2, 0, 1})));
  const auto data = opened("npy:" + path(), {.input_shape = {2, 5}});
  ASSERT_TRUE(data);
  EXPECT_EQ(data->classes(), 3);
  EXPECT_THAT(labels_of(*data), ElementsAre(2, 0, 1));
  const Sample sample = data->sample(2).value();
  EXPECT_EQ(sample.input.shape(), (Shape{2, 5}));
  EXPECT_EQ(reinterpret_cast<const float*>(sample.input.bytes().data())[3], 23);
  EXPECT_EQ(opened("npy:" + path(), {.classes = 7})->classes(), 7);
}

TEST_F(DataSets, NpyFilesThatDoNotFitAreRefused) {
  const std::string spec = "npy:" + path();
  refused("npy:", {}, ErrorCode::kInvalidArgument, HasSubstr("npy:DIR"));
  refused(spec, {}, ErrorCode::kNotFound, HasSubstr("inputs.npy"));
  ASSERT_TRUE(write_npy(path("inputs.npy"), integers({1, 2})));
  refused(spec, {}, ErrorCode::kInvalidArgument, AllOf(HasSubstr("int64"), HasSubstr("float32")));
  ASSERT_TRUE(write_npy(path("inputs.npy"), floats({2, 4})));
  refused(spec, {}, ErrorCode::kNotFound, HasSubstr("labels.npy"));
  ASSERT_TRUE(write_npy(path("labels.npy"), floats({2})));
  refused(spec, {}, ErrorCode::kInvalidArgument,
          AllOf(HasSubstr("labels.npy"), HasSubstr("int64")));
  ASSERT_TRUE(write_npy(path("labels.npy"), integers({0, 1, 1})));
  refused(spec, {}, ErrorCode::kInvalidArgument,
          AllOf(HasSubstr("2 samples"), HasSubstr("3 labels")));
  ASSERT_TRUE(write_npy(path("labels.npy"), integers({0, -1})));
  refused(spec, {}, ErrorCode::kInvalidArgument, HasSubstr("label 1 is -1"));
  ASSERT_TRUE(write_npy(path("labels.npy"), integers({3, 1})));
  refused(spec, {.classes = 3}, ErrorCode::kInvalidArgument,
          AllOf(HasSubstr("label 0 is 3"), HasSubstr("0 to 2")));
  refused(spec, {.input_shape = {5}}, ErrorCode::kInvalidArgument, HasSubstr("--input-shape"));
  std::filesystem::resize_file(path("inputs.npy"),
                               std::filesystem::file_size(path("inputs.npy")) - 1);
  refused(spec, {}, ErrorCode::kCorrupt, HasSubstr("too few"));
}

TEST_F(DataSets, MadeUpSamplesFollowFromTheSeed) {
  const DataSetOptions options{.input_shape = {3, 8, 8}, .classes = 5, .samples = 300};
  const auto data = opened("synthetic", options);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->classes(), 5);
  EXPECT_EQ(data->size(), 300);
  const auto again = opened("synthetic:5", options);
  EXPECT_TRUE(bit_equal(data->sample(17)->input, again->sample(17)->input));
  EXPECT_FALSE(bit_equal(data->sample(17)->input, data->sample(18)->input));
  std::vector<int> count(5);
  for (const std::int64_t label : labels_of(*data)) ++count[static_cast<std::size_t>(label)];
  EXPECT_THAT(count, testing::Each(testing::Gt(30)));
  DataSetOptions other = options;
  other.part = Part::kTrain;
  EXPECT_FALSE(bit_equal(opened("synthetic", other)->sample(17)->input, data->sample(17)->input));
  other = options;
  other.seed = 2;
  EXPECT_FALSE(bit_equal(opened("synthetic", other)->sample(17)->input, data->sample(17)->input));
}

TEST_F(DataSets, ClassesThatAreMadeUpCanBeToldApart) {
  // The nearest mean of training samples names the class of test samples.
  DataSetOptions options{.part = Part::kTrain, .input_shape = {3, 8, 8}, .samples = 200};
  const auto sum = [](const DataSet& data, std::size_t label) {
    std::vector<float> mean(192);
    for (std::int64_t i = 0; i < data.size(); ++i) {
      const Sample sample = data.sample(i).value();
      if (sample.label != static_cast<std::int64_t>(label)) continue;
      const auto* values = reinterpret_cast<const float*>(sample.input.bytes().data());
      for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += values[j];
    }
    return mean;
  };
  const auto train = opened("synthetic:4", options);
  std::vector<std::vector<float>> means;
  for (std::size_t label = 0; label < 4; ++label) means.push_back(sum(*train, label));
  options.part = Part::kTest;
  const auto test = opened("synthetic:4", options);
  int right = 0;
  for (std::int64_t i = 0; i < test->size(); ++i) {
    const Sample sample = test->sample(i).value();
    const auto* values = reinterpret_cast<const float*>(sample.input.bytes().data());
    std::vector<float> scores;
    for (const auto& mean : means) {
      float score = 0;
      for (std::size_t j = 0; j < mean.size(); ++j) score += mean[j] * values[j];
      scores.push_back(score);
    }
    right += std::ranges::max_element(scores) - scores.begin() == sample.label ? 1 : 0;
  }
  EXPECT_GT(right, 180);
}

TEST_F(DataSets, WhatCannotBeMadeUpIsRefused) {
  refused("synthetic", {}, ErrorCode::kInvalidArgument, HasSubstr("shape"));
  for (const char* classes : {"0", "-1", "many", "5x", "99999999"}) {
    refused(std::string("synthetic:") + classes, kSmall, ErrorCode::kInvalidArgument,
            HasSubstr("classes"));
  }
  refused("synthetic:6", {.input_shape = {3}, .classes = 5}, ErrorCode::kInvalidArgument,
          HasSubstr("5 apart"));
}

TEST_F(DataSets, OtherNamesAreNoDataSets) {
  refused("cifar100:" + path(), {}, ErrorCode::kInvalidArgument,
          AllOf(HasSubstr("cifar10"), HasSubstr("npy:DIR")));
  refused("", {}, ErrorCode::kInvalidArgument, HasSubstr("no data set"));
  EXPECT_EQ(parse_part("train").value(), Part::kTrain);
  EXPECT_FALSE(parse_part("validation"));
  write("odd:name/a/x.png", png_bytes(8, 8));
  EXPECT_TRUE(opened(path("odd:name"), kSmall));
}

TEST_F(DataSets, NamesAreMadeAbsolute) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(with_absolute_path("pictures/val"), here + "/pictures/val");
  EXPECT_EQ(with_absolute_path("cifar10:cifar"), "cifar10:" + here + "/cifar");
  EXPECT_EQ(with_absolute_path("npy:/data"), "npy:/data");
  EXPECT_EQ(with_absolute_path("npy:"), "npy:");
  EXPECT_EQ(with_absolute_path("synthetic:7"), "synthetic:7");
  EXPECT_EQ(with_absolute_path(""), "");
}

}  // namespace
}  // namespace pareto::data
