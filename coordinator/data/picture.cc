#include "coordinator/data/picture.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "coordinator/data/jpeg.h"
#include "coordinator/data/png.h"

namespace pareto::data {
namespace {

bool begins_with(std::span<const std::byte> file, std::string_view signature) {
  return file.size() >= signature.size() &&
         std::memcmp(file.data(), signature.data(), signature.size()) == 0;
}

/// Returns where a part of `length` begins in a side of `whole`: in the middle, halves rounded to
/// the even number. Negative if the part is the longer one.
int centre_offset(int whole, int length) {
  if (whole < length) return -((length - whole) / 2);
  const int difference = whole - length;
  const int half = difference / 2;
  return difference % 2 == 1 && half % 2 == 1 ? half + 1 : half;
}

}  // namespace

std::string to_string(const PictureSize& size) {
  return fmt::format("{}x{}", size.height, size.width);
}

Expected<> check_pixels(std::int64_t height, std::int64_t width) {
  if (height < 1 || width < 1) {
    return fail(ErrorCode::kCorrupt, "has {} x {} pixels", width, height);
  }
  if (height > kLongestSide || width > kLongestSide || height * width > kMostPixels) {
    return fail(ErrorCode::kExhausted,
                "has {} x {} pixels; at most {} are taken, {} a side: make it smaller", width,
                height, kMostPixels, kLongestSide);
  }
  return {};
}

Expected<Picture> decode_picture(std::span<const std::byte> file) {
  if (begins_with(file, "\xff\xd8\xff")) return decode_jpeg(file);
  if (begins_with(file, "\x89PNG\r\n\x1a\n")) return decode_png(file);
  return fail(ErrorCode::kCorrupt, "{}",
              file.empty() ? "is empty" : "is neither a JPEG nor a PNG picture");
}

Expected<PictureSize> with_shorter_side(PictureSize size, int side) {
  const std::int64_t shorter = std::min(size.height, size.width);
  const std::int64_t longer = std::max(size.height, size.width);
  if (shorter < 1) return fail(ErrorCode::kCorrupt, "has no pixel");
  const std::int64_t other = side * longer / shorter;
  PARETO_TRY(with_context(check_pixels(side, other), "resized to {}", side));
  const auto made = static_cast<int>(other);
  return size.width <= size.height ? PictureSize{made, side} : PictureSize{side, made};
}

Expected<Picture> crop_centre(const Picture& picture, PictureSize size) {
  if (size == picture.size) return picture;
  PARETO_TRY(check_pixels(size.height, size.width));
  const auto channels = static_cast<std::size_t>(picture.channels);
  Picture part{size, picture.channels, {}};
  part.bytes.resize(static_cast<std::size_t>(size.height) * static_cast<std::size_t>(size.width) *
                    channels);
  const int top = centre_offset(picture.size.height, size.height);
  const int left = centre_offset(picture.size.width, size.width);
  const int first = std::max(0, -left);
  const int copied = std::min(size.width, picture.size.width - left) - first;
  for (int row = std::max(0, -top); row < std::min(size.height, picture.size.height - top); ++row) {
    const auto from =
        (static_cast<std::size_t>(row + top) * static_cast<std::size_t>(picture.size.width) +
         static_cast<std::size_t>(first + left)) *
        channels;
    const auto to = (static_cast<std::size_t>(row) * static_cast<std::size_t>(size.width) +
                     static_cast<std::size_t>(first)) *
                    channels;
    std::memcpy(part.bytes.data() + to, picture.bytes.data() + from,
                static_cast<std::size_t>(copied) * channels);
  }
  return part;
}

Picture to_grayscale(const Picture& picture) {
  if (picture.channels == 1) return picture;
  Picture gray{picture.size, 1, {}};
  gray.bytes.resize(picture.bytes.size() / 3);
  for (std::size_t i = 0; i < gray.bytes.size(); ++i) {
    const std::uint8_t* const pixel = picture.bytes.data() + 3 * i;
    gray.bytes[i] = static_cast<std::uint8_t>(
        (19595 * pixel[0] + 38470 * pixel[1] + 7471 * pixel[2] + 0x8000) >> 16);
  }
  return gray;
}

}  // namespace pareto::data
