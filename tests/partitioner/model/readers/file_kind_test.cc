#include "partitioner/model/readers/file_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/partitioner/model/readers/format_bytes.h"

namespace pareto::model {
namespace {

using test::zip_of;
using testing::HasSubstr;

/// Returns the kind of a file with these bytes, or "unknown".
std::string kind_of(const std::string& bytes, std::string_view extension = ".pt") {
  const FileKind* const kind = kind_of_unread(test::ends_of(bytes), extension);
  return std::string(kind == nullptr ? "unknown" : kind->name);
}

TEST(FileKind, IsToldByWhatIsInTheFile) {
  using namespace std::string_literals;
  EXPECT_THAT(kind_of(zip_of("archive/data.pkl _rebuild_tensor_v2 FloatStorage")),
              HasSubstr("weights without a model"));
  EXPECT_THAT(kind_of(zip_of("archive/data.pkl _modules _parameters")), HasSubstr("whole module"));
  EXPECT_THAT(kind_of(zip_of("serialized_exported_program.json")), HasSubstr("torch.export"));
  EXPECT_THAT(kind_of(zip_of("model/archive_format")), HasSubstr("torch.export"));
  EXPECT_THAT(kind_of("\x18\0\0\0ET12rest"s), HasSubstr("ExecuTorch"));
  EXPECT_THAT(kind_of("\x18\0\0\0TFL3rest"s), HasSubstr("TensorFlow Lite"));
  EXPECT_THAT(kind_of("\x80\x02}_rebuild_tensor"), HasSubstr("weights without a model"));
  EXPECT_THAT(kind_of("\x80\x02}_modules _parameters"), HasSubstr("whole module"));
  EXPECT_THAT(kind_of("\x40\0\0\0\0\0\0\0{\"w\":"s), HasSubstr("safetensors"));
}

TEST(FileKind, ThenByTheName) {
  EXPECT_THAT(kind_of("\x08\x07\x12\x07pytorch", ".onnx"), HasSubstr("ONNX"));
  EXPECT_THAT(kind_of("anything", ".pte"), HasSubstr("ExecuTorch"));
  EXPECT_EQ(kind_of("anything"), "unknown");
  EXPECT_EQ(kind_of(zip_of("something else"), ".onnx"), "unknown") << "ONNX files are no archives";
}

TEST(FileKind, OfAFileThatWasCutOff) {
  EXPECT_EQ(kind_of("", ".onnx"), "an empty file");
  EXPECT_THAT(kind_of("PK\x03\x04model/data.pkl"), HasSubstr("truncated"));
}

TEST(FileKind, OfALongFileIsSeenFromBothEnds) {
  const std::string padding(3 << 20, 'x');
  EXPECT_THAT(kind_of("PK\x03\x04_rebuild_tensor" + padding + "archive/data.pkl PK\x05\x06"),
              HasSubstr("weights without a model"));
}

TEST(FileKind, AnyBytesHaveAnAnswer) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (i % 3 == 0) bytes = "PK\x03\x04" + bytes;
    if (i % 3 == 1) bytes = "\x80" + bytes;
    EXPECT_NE(kind_of(bytes), "");
  }
}

TEST(FileKind, NamesOfSuchFiles) {
  for (const char* name : {"a.onnx", "a.pte", "a.pt2", "a.pth", "a.safetensors", "a.ckpt",
                           "a.tflite", "folder/a.onnx"}) {
    EXPECT_TRUE(is_named_as_unread(name)) << name;
  }
  for (const char* name : {"a.pt", "onnx", "a.onnx.pt", ""}) {
    EXPECT_FALSE(is_named_as_unread(name)) << name;
  }
}

}  // namespace
}  // namespace pareto::model
