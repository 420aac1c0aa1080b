#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/file.h"
#include "partitioner/model/zoo/model_builder.h"

namespace pareto::model::zoo {
namespace {

using ::testing::HasSubstr;

/// Runs in a folder of its own, as the names of files are seen from the current one.
class OpenModel : public ::testing::Test {
 protected:
  OpenModel()
      : before_(std::filesystem::current_path()),
        folder_(TemporaryFolder::create("pareto-open-model").value()) {
    std::filesystem::current_path(folder_.path());
  }
  ~OpenModel() override { std::filesystem::current_path(before_); }

  const std::filesystem::path before_;
  const TemporaryFolder folder_;
};

TEST_F(OpenModel, WhatIsAFileIsAFile) {
  for (const char* name : {"net.torchscript", "net.ptl", "net.jit", "net.pt", "net.onnx", "net.pte",
                           "nets/net", "./net"}) {
    EXPECT_TRUE(is_model_file(name)) << name;
  }
  EXPECT_FALSE(is_model_file("net"));
  ASSERT_TRUE(write_file_atomically("net", "anything"));
  EXPECT_TRUE(is_model_file("net")) << "now it is there";
}

TEST_F(OpenModel, ABuiltInModelIsOneWhateverFilesThereAre) {
  ASSERT_TRUE(write_file_atomically("resnet18", "anything"));
  EXPECT_FALSE(is_model_file("resnet18"));
  EXPECT_TRUE(is_model_file("./resnet18"));
}

TEST_F(OpenModel, AFileThatIsNotThereIsSaid) {
  const auto absent = open_model("net.torchscript", {});
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().message, HasSubstr("net.torchscript: no such file"));
  const auto unknown = open_model("resnet81", {});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("did you mean resnet18"));
  EXPECT_THAT(unknown.error().message, HasSubstr("no such file either"));
}

}  // namespace
}  // namespace pareto::model::zoo
