// The files that other tests of this folder take.
#include "tests/coordinator/data/pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// jpeglib.h needs stdio.h before it, and jerror.h what jpeglib.h defines.
// clang-format off
#include <stdio.h>
#include <jpeglib.h>
// clang-format on
#include <png.h>

#include <fstream>
#include <span>

#include "coordinator/data/picture.h"

namespace pareto::data {

std::vector<std::uint8_t> made_up_pixels(int height, int width, int seed) {
  std::vector<std::uint8_t> bytes;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) {
        bytes.push_back(static_cast<std::uint8_t>((x * (3 + seed) + y * (5 + c) + 40 * c) % 256));
      }
    }
  }
  return bytes;
}

std::string png_bytes(int height, int width, int seed) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  const std::vector<std::uint8_t> pixels = made_up_pixels(height, width, seed);
  png_alloc_size_t size = 0;
  png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data(), 0, nullptr);
  std::string file(size, '\0');
  png_image_write_to_memory(&image, file.data(), &size, 0, pixels.data(), 0, nullptr);
  file.resize(size);
  return file;
}

std::string jpeg_bytes(int height, int width, int seed) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_start_compress(&info, TRUE);
  std::vector<std::uint8_t> pixels = made_up_pixels(height, width, seed);
  for (int y = 0; y < height; ++y) {
    JSAMPROW row = pixels.data() + static_cast<std::ptrdiff_t>(y) * width * 3;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string file(reinterpret_cast<const char*>(memory), size);
  std::free(memory);
  return file;
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

namespace {

using testing::HasSubstr;

Expected<Picture> decoded(const std::string& file) {
  return decode_picture(std::as_bytes(std::span(file)));
}

TEST(Picture, APngFileHasItsPixels) {
  const auto picture = decoded(png_bytes(5, 7));
  ASSERT_TRUE(picture) << picture.error().message;
  EXPECT_EQ(picture->size, (PictureSize{5, 7}));
  EXPECT_EQ(picture->bytes, made_up_pixels(5, 7, 0));
}

TEST(Picture, EveryBeginningOfAFileIsRefusedAsDamaged) {
  for (const std::string& file : {png_bytes(20, 30), jpeg_bytes(20, 30)}) {
    ASSERT_TRUE(decoded(file));
    for (std::size_t size = 0; size < file.size(); ++size) {
      const auto picture = decoded(file.substr(0, size));
      ASSERT_FALSE(picture) << size << " of " << file.size();
      EXPECT_EQ(picture.error().code, ErrorCode::kCorrupt) << picture.error().message;
    }
  }
}

TEST(Picture, AChangedByteOfAPngIsNoticed) {
  std::string file = png_bytes(20, 30);
  file[file.size() / 2] = static_cast<char>(file[file.size() / 2] ^ 1);
  const auto picture = decoded(file);
  ASSERT_FALSE(picture);
  EXPECT_EQ(picture.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(picture.error().message, HasSubstr("damaged PNG"));
}

TEST(Picture, AJpegWhoseMiddleIsGoneIsDamaged) {
  std::string file = jpeg_bytes(64, 64, 1);
  file.erase(file.size() - 400, 300);
  const auto picture = decoded(file);
  ASSERT_FALSE(picture);
  EXPECT_THAT(picture.error().message, HasSubstr("damaged JPEG"));
}

TEST(Picture, OtherFilesAreNone) {
  EXPECT_EQ(decoded("").error().message, "is empty");
  EXPECT_EQ(decoded("GIF89a and more").error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(decoded("GIF89a").error().message, HasSubstr("neither a JPEG nor a PNG"));
}

/// Puts a size into a PNG's header, with its checksum.
std::string with_png_size(std::string file, std::uint32_t height, std::uint32_t width) {
  const auto put = [&](std::size_t at, std::uint32_t number) {
    for (std::size_t i = 0; i < 4; ++i) file[at + i] = static_cast<char>(number >> (24 - 8 * i));
  };
  put(16, width);
  put(20, height);
  std::uint32_t crc = 0xffffffff;
  for (std::size_t i = 12; i < 29; ++i) {
    crc ^= static_cast<unsigned char>(file[i]);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  put(29, ~crc);
  return file;
}

TEST(Picture, SizesAreCheckedBeforeMemoryIsTaken) {
  const auto png = decoded(with_png_size(png_bytes(5, 7), 60'000, 60'000));
  ASSERT_FALSE(png);
  EXPECT_EQ(png.error().code, ErrorCode::kExhausted) << png.error().message;
  EXPECT_THAT(png.error().message, HasSubstr("60000 x 60000 pixels"));

  std::string jpeg = jpeg_bytes(16, 16);
  const std::size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, "\xfe\xfe\xfe\xfe");
  const auto large = decoded(jpeg);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::kExhausted) << large.error().message;
}

TEST(Picture, NothingIsMadeLargerThanTheLimit) {
  const Picture line{{1, 60'000}, 3, std::vector<std::uint8_t>(180'000)};
  EXPECT_EQ(with_shorter_side(line.size, 256).error().code, ErrorCode::kExhausted);
  EXPECT_EQ(resize(line, {60'000, 60'000}, Interpolation::kBilinear).error().code,
            ErrorCode::kExhausted);
  EXPECT_EQ(crop_centre(line, {60'000, 60'000}).error().code, ErrorCode::kExhausted);
}

}  // namespace
}  // namespace pareto::data
