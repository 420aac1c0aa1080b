#include "core/tensor/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "core/base/file.h"

namespace pareto {
namespace {

using testing::HasSubstr;

class Npy : public testing::Test {
 protected:
  Npy() : folder_(TemporaryFolder::create("npy").value()) {}
  std::filesystem::path path() const { return folder_.path() / "x.npy"; }
  Expected<Tensor> read(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return read_npy(path());
  }
  /// Returns a file of format 1.0 with this header and data.
  static std::string file(const std::string& header, const std::string& data) {
    std::string text = std::string("\x93NUMPY\x01\x00", 8);
    text += static_cast<char>(header.size() & 0xff);
    text += static_cast<char>(header.size() >> 8);
    return text + header + data;
  }
  void refused(const std::string& bytes, ErrorCode code, const std::string& sentence) const {
    const auto tensor = read(bytes);
    ASSERT_FALSE(tensor) << sentence;
    EXPECT_EQ(tensor.error().code, code) << tensor.error().message;
    EXPECT_THAT(tensor.error().message, HasSubstr(sentence));
    EXPECT_THAT(tensor.error().message, HasSubstr("x.npy"));
  }

  TemporaryFolder folder_;
};

TEST_F(Npy, GivesBackWhatWasWritten) {
  for (const DType dtype : {DType::kUInt8, DType::kInt16, DType::kInt32, DType::kInt64,
                            DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kBool}) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{5}, Shape{2, 3, 4}}) {
      Tensor tensor = Tensor::allocate(dtype, shape).value();
      for (std::size_t i = 0; i < tensor.size_bytes(); ++i) {
        tensor.mutable_bytes()[i] = static_cast<std::byte>(i & 1);
      }
      ASSERT_TRUE(write_npy(path(), tensor));
      const auto back = read_npy(path());
      ASSERT_TRUE(back) << back.error().message;
      EXPECT_TRUE(bit_equal(*back, tensor)) << to_string(dtype) << " " << to_string(shape);
      EXPECT_EQ(back->shape(), shape);
    }
  }
  EXPECT_FALSE(write_npy(path(), Tensor::allocate(DType::kBFloat16, {1}).value()));
}

TEST_F(Npy, ImagesAreWrittenRowByRowHoweverTheyLie) {
  Tensor images =
      Tensor::allocate(DType::kUInt8, {1, 2, 1, 2}, MemoryLayout::kChannelsLast).value();
  for (std::size_t i = 0; i < 4; ++i) images.mutable_bytes()[i] = static_cast<std::byte>(i);
  ASSERT_TRUE(write_npy(path(), images));
  const auto back = read_npy(path());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(bit_equal(*back, images));
  EXPECT_EQ(back->bytes()[1], std::byte{2});
}

TEST_F(Npy, ReadsWhatNumPyWrites) {
  // numpy.save of numpy.array([[1, 2, 3]], dtype='<i4'), numpy 1.24
  const auto tensor = read(file(
      "{'descr': '<i4', 'fortran_order': False, 'shape': (1, 3), }" + std::string(57, ' ') + "\n",
      std::string("\1\0\0\0\2\0\0\0\3\0\0\0", 12)));
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(tensor->dtype(), DType::kInt32);
  EXPECT_EQ(tensor->shape(), (Shape{1, 3}));
  std::int32_t values[3];
  std::memcpy(values, tensor->bytes().data(), sizeof values);
  EXPECT_THAT(values, testing::ElementsAre(1, 2, 3));
}

TEST_F(Npy, RefusesForeignAndBrokenBytes) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  ASSERT_TRUE(read(file(header, std::string(8, '\0'))));
  refused("", ErrorCode::kCorrupt, "no .npy file");
  refused("hello, this is a text", ErrorCode::kCorrupt, "no .npy file");
  refused(file(header, std::string(7, '\0')), ErrorCode::kCorrupt, "too few");
  refused(file(header, "").substr(0, 20), ErrorCode::kCorrupt, "header");
  refused(file("{}", ""), ErrorCode::kCorrupt, "header");
  refused(file("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", std::string(8, '\0')),
          ErrorCode::kInvalidArgument, "Fortran");
  refused(file("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", std::string(8, '\0')),
          ErrorCode::kInvalidArgument, ">f4");
  refused(file("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", std::string(8, '\0')),
          ErrorCode::kInvalidArgument, "|O");
  refused(file("{'descr': [('a', '<f4'), ('b', '<i8')], 'fortran_order': False, 'shape': (1,), }",
               std::string(12, '\0')),
          ErrorCode::kInvalidArgument, "structured array");
  for (const char* shape : {"-1", "x", "1e9", "99999999999999999999", "4294967296, 4294967296"}) {
    const auto tensor = read(file(
        "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::string(shape) + ",), }", ""));
    EXPECT_FALSE(tensor) << shape;
  }
  // A size that the file does not back must not be allocated.
  refused(file("{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846975,), }", ""),
          ErrorCode::kCorrupt, "too few");
  EXPECT_EQ(read_npy(folder_.path() / "absent.npy").error().code, ErrorCode::kNotFound);
}

TEST_F(Npy, RowsAreReadOneByOne) {
  Tensor tensor = Tensor::allocate(DType::kInt16, {3, 2, 2}).value();
  for (std::size_t i = 0; i < tensor.size_bytes(); ++i) {
    tensor.mutable_bytes()[i] = static_cast<std::byte>(i);
  }
  ASSERT_TRUE(write_npy(path(), tensor));
  const auto file = NpyFile::open(path());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->dtype(), DType::kInt16);
  EXPECT_EQ(file->shape(), (Shape{3, 2, 2}));
  const auto row = file->row(2);
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->shape(), (Shape{2, 2}));
  EXPECT_TRUE(std::ranges::equal(row->bytes(), tensor.bytes().subspan(16)));
  for (const std::int64_t none : {-1, 3}) {
    EXPECT_EQ(file->row(none).error().code, ErrorCode::kInvalidArgument);
  }
  std::filesystem::resize_file(path(), std::filesystem::file_size(path()) - 1);
  EXPECT_TRUE(file->row(1));
  EXPECT_EQ(file->row(2).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(NpyFile::open(path()).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace pareto
