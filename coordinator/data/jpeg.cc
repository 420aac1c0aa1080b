#include "coordinator/data/jpeg.h"

// jpeglib.h needs stdio.h before it, and jerror.h what jpeglib.h defines.
// clang-format off
#include <stdio.h>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdint>
#include <string>
#include <utility>

namespace pareto::data {
namespace {

/// A progressive picture has some ten scans. Each takes the time of a whole picture, and few bytes.
constexpr int kMostScans = 200;

/// Returns whether a warning means that pixels were made up.
bool is_damage(int warning) {
  constexpr std::array kDamage{JWRN_ARITH_BAD_CODE, JWRN_BOGUS_PROGRESSION, JWRN_HIT_MARKER,
                               JWRN_HUFF_BAD_CODE,  JWRN_JPEG_EOF,          JWRN_MUST_RESYNC,
                               JWRN_NOT_SEQUENTIAL};
  return std::ranges::find(kDamage, warning) != kDamage.end();
}

/// Returns round(a × b / 255).
unsigned scaled(unsigned a, unsigned b) {
  const unsigned product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

/// Converts cyan, magenta, yellow and black to red, green and blue, in place. The values of a file
/// are inverted, as Adobe's programs store them.
void from_cmyk(std::vector<std::uint8_t>& bytes) {
  const std::size_t pixels = bytes.size() / 4;
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::array<unsigned, 4> ink{bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2],
                                      bytes[4 * i + 3]};
    for (std::size_t c = 0; c < 3; ++c) {
      bytes[3 * i + c] = static_cast<std::uint8_t>(ink[3] - scaled(255 - ink[c], ink[3]));
    }
  }
  bytes.resize(3 * pixels);
}

/// Reads one file. The library leaves a call by longjmp if it fails: functions that call it hold
/// nothing that a destructor would have to free.
///
/// Threads: one owner.
class JpegReader {
 public:
  explicit JpegReader(std::span<const std::byte> file) : file_(file) {
    info_.err = jpeg_std_error(&errors_);
    info_.client_data = this;
    errors_.error_exit = [](j_common_ptr info) { leave(info); };
    errors_.emit_message = [](j_common_ptr info, int level) {
      if (level < 0 && is_damage(info->err->msg_code)) leave(info);
    };
    progress_.progress_monitor = [](j_common_ptr info) { check_scans(info); };
  }
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  Expected<Picture> read() {
    if (!read_header()) return failure();
    PARETO_TRY(check_pixels(info_.image_height, info_.image_width));
    if (!choose_colours()) {
      return fail(ErrorCode::kCorrupt, "is a JPEG of {} channels that are no known colours",
                  info_.num_components);
    }
    picture_.size = {static_cast<int>(info_.image_height), static_cast<int>(info_.image_width)};
    row_bytes_ = std::size_t{info_.image_width} * (info_.out_color_space == JCS_CMYK ? 4 : 3);
    picture_.bytes.resize(info_.image_height * row_bytes_);
    if (!read_rows()) return failure();
    if (info_.out_color_space == JCS_CMYK) from_cmyk(picture_.bytes);
    return std::move(picture_);
  }

 private:
  [[noreturn]] static void leave(j_common_ptr info) {
    auto* const self = static_cast<JpegReader*>(info->client_data);
    info->err->format_message(info, self->message_.data());
    std::longjmp(self->escape_, 1);
  }
  static void check_scans(j_common_ptr info) {
    auto* const self = static_cast<JpegReader*>(info->client_data);
    if (self->info_.input_scan_number <= kMostScans) return;
    self->too_many_scans_ = true;
    leave(info);
  }

  bool read_header() {
    if (setjmp(escape_) != 0) return false;
    jpeg_create_decompress(&info_);
    info_.progress = &progress_;
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(file_.data()), file_.size());
    jpeg_read_header(&info_, TRUE);
    return true;
  }
  bool choose_colours() {
    switch (info_.jpeg_color_space) {
      case JCS_GRAYSCALE:
      case JCS_RGB:
      case JCS_YCbCr:
        info_.out_color_space = JCS_RGB;
        return true;
      case JCS_CMYK:
      case JCS_YCCK:
        info_.out_color_space = JCS_CMYK;
        return true;
      default:
        return false;
    }
  }
  bool read_rows() {
    if (setjmp(escape_) != 0) return false;
    jpeg_start_decompress(&info_);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = picture_.bytes.data() + info_.output_scanline * row_bytes_;
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  tl::unexpected<Error> failure() const {
    if (too_many_scans_) {
      return fail(ErrorCode::kExhausted, "is a JPEG of more than {} scans", kMostScans);
    }
    return fail(ErrorCode::kCorrupt, "is a damaged JPEG: {}", message_.data());
  }

  const std::span<const std::byte> file_;
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf escape_{};
  std::array<char, JMSG_LENGTH_MAX> message_{};
  bool too_many_scans_ = false;
  Picture picture_;
  std::size_t row_bytes_ = 0;
};

}  // namespace

Expected<Picture> decode_jpeg(std::span<const std::byte> file) { return JpegReader(file).read(); }

}  // namespace pareto::data
