// Pictures as bytes: read from JPEG and PNG, resized, cropped. Foreign bytes: sizes are checked
// before memory is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace pareto::data {

/// The most pixels of a picture, read or made, and the longest side.
inline constexpr std::int64_t kMostPixels = 100'000'000;
inline constexpr std::int64_t kLongestSide = 65'535;

struct PictureSize {
  int height = 0;
  int width = 0;
  bool operator==(const PictureSize&) const = default;
};
/// Returns "224x320": height first, as shapes have it.
std::string to_string(const PictureSize& size);
/// Checks the size of a picture before memory for it is allocated. Fails: kExhausted (more than
/// kMostPixels or kLongestSide), kCorrupt (no pixel).
Expected<> check_pixels(std::int64_t height, std::int64_t width);

/// A picture, row by row. A pixel has its channels next to each other: red, green and blue, or grey
/// only.
struct Picture {
  PictureSize size;
  int channels = 3;
  std::vector<std::uint8_t> bytes;  ///< height × width × channels
};

/// Decodes a JPEG or PNG file to red, green and blue, as Pillow's `convert("RGB")` does: grey
/// values are repeated, transparency is left out. Of 16 bits it takes the upper 8. The orientation
/// in Exif data is not applied. Fails: kCorrupt (neither of both, or damaged: how), kExhausted (too
/// large).
Expected<Picture> decode_picture(std::span<const std::byte> file);

/// Rule that makes pixels of others. Shrinking takes the mean over the area that a pixel covers
/// (antialias).
enum class Interpolation { kBilinear, kBicubic };

/// Returns the picture at another size, with the bits of Pillow's `resize`. Fails: as
/// check_pixels() does.
Expected<Picture> resize(const Picture& picture, PictureSize size, Interpolation interpolation);
/// Returns the size at which the shorter side is `side`, as torchvision's Resize rounds it.
Expected<PictureSize> with_shorter_side(PictureSize size, int side);
/// Returns the central part, as torchvision's CenterCrop takes it. What lies outside the picture is
/// black. Fails: as check_pixels() does.
Expected<Picture> crop_centre(const Picture& picture, PictureSize size);
/// Returns the luma of each pixel (ITU-R 601-2), as Pillow's `convert("L")` rounds it.
Picture to_grayscale(const Picture& picture);

}  // namespace pareto::data
