#include "partitioner/model/graph/file_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/base/file.h"

namespace pareto::model {
namespace {

using testing::HasSubstr;

class FileKind : public testing::Test {
 protected:
  /// Returns what is said of a file of that name with those bytes; empty: it may be TorchScript.
  std::string remedy(const std::string& bytes, const std::string& name = "model.pt") {
    const auto path = folder_.path() / name;
    EXPECT_TRUE(write_file_atomically(path, bytes));
    return remedy_for_other_file(path).value_or("");
  }
  static std::string zip_of(const std::string& names) {
    return "PK\x03\x04" + names + "PK\x05\x06";
  }

 private:
  TemporaryFolder folder_ = TemporaryFolder::create("pareto-kind").value();
};

TEST_F(FileKind, TorchScriptIsLeftToItsLoader) {
  EXPECT_EQ(remedy(zip_of("model/data.pkl model/code/__torch__.py model/constants.pkl")), "");
  EXPECT_EQ(remedy(zip_of("model/code/x.py")), "");
  EXPECT_EQ(remedy(zip_of("something else")), "");
  // Cut off before its list of files: the loader says so.
  EXPECT_EQ(remedy("PK\x03\x04model/data.pkl"), "");
}

TEST_F(FileKind, OthersAreToldByWhatIsInThem) {
  using namespace std::string_literals;
  EXPECT_THAT(remedy(zip_of("archive/data.pkl _rebuild_tensor_v2 FloatStorage")),
              HasSubstr("weights without a model"));
  EXPECT_THAT(remedy(zip_of("archive/data.pkl _modules _parameters")), HasSubstr("whole module"));
  EXPECT_THAT(remedy(zip_of("serialized_exported_program.json")), HasSubstr("torch.export"));
  EXPECT_THAT(remedy(zip_of("model/archive_format")), HasSubstr("torch.export"));
  EXPECT_THAT(remedy("\x18\0\0\0ET12rest"s), HasSubstr("ExecuTorch"));
  EXPECT_THAT(remedy("\x18\0\0\0TFL3rest"s), HasSubstr("TensorFlow Lite"));
  EXPECT_THAT(remedy("\x80\x02}_rebuild_tensor"), HasSubstr("weights without a model"));
  EXPECT_THAT(remedy("\x80\x02}_modules _parameters"), HasSubstr("whole module"));
  EXPECT_THAT(remedy("\x40\0\0\0\0\0\0\0{\"w\":"s), HasSubstr("weights without a model"));
}

TEST_F(FileKind, ThenByTheirNames) {
  EXPECT_THAT(remedy("\x08\x07\x12\x07pytorch", "model.onnx"), HasSubstr("ONNX"));
  EXPECT_THAT(remedy("anything", "model.pte"), HasSubstr("ExecuTorch"));
  EXPECT_THAT(remedy("anything", "model.pt"), HasSubstr("not a TorchScript archive"));
  EXPECT_THAT(remedy("", "model.pt"), HasSubstr("not a TorchScript archive"));
}

TEST_F(FileKind, WhatIsLongIsLookedAtAtBothEnds) {
  const std::string padding(3 << 20, 'x');
  EXPECT_EQ(remedy("PK\x03\x04" + padding + "/code/ PK\x05\x06"), "");
  EXPECT_THAT(remedy("PK\x03\x04_rebuild_tensor" + padding + "archive/data.pkl PK\x05\x06"),
              HasSubstr("weights without a model"));
}

TEST_F(FileKind, AnyBytesHaveAnAnswer) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (i % 3 == 0) bytes = "PK\x03\x04" + bytes;
    if (i % 3 == 1) bytes = "\x80" + bytes;
    remedy(bytes);
  }
}

TEST(FileKindOf, AFileThatIsNotThereIsNone) {
  EXPECT_TRUE(remedy_for_other_file("/nowhere/model.pt"));
}

}  // namespace
}  // namespace pareto::model
