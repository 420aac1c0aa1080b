#include "coordinator/data/png.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <utility>
#include <vector>

namespace pareto::data {
namespace {

/// Reads one file. The library leaves a call by longjmp if it fails: functions that call it hold
/// nothing that a destructor would have to free.
///
/// Threads: one owner.
class PngReader {
 public:
  explicit PngReader(std::span<const std::byte> file) : rest_(file) {}
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  Expected<Picture> read() {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) return fail(ErrorCode::kExhausted, "no memory to read it");
    if (!read_header()) return failure();
    const auto height = png_get_image_height(png_, info_);
    const auto width = png_get_image_width(png_, info_);
    PARETO_TRY(check_pixels(height, width));
    if (!choose_colours()) return failure();
    picture_.size = {static_cast<int>(height), static_cast<int>(width)};
    const std::size_t row_bytes = std::size_t{width} * 3;
    if (png_get_rowbytes(png_, info_) != row_bytes) {
      return fail(ErrorCode::kCorrupt, "is a PNG of colours that are not known");
    }
    picture_.bytes.resize(height * row_bytes);
    for (std::size_t row = 0; row < height; ++row) {
      rows_.push_back(picture_.bytes.data() + row * row_bytes);
    }
    if (!read_rows()) return failure();
    return std::move(picture_);
  }

 private:
  [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
    auto* const self = static_cast<PngReader*>(png_get_error_ptr(png));
    const std::size_t length = std::min(std::strlen(message), self->message_.size() - 1);
    std::memcpy(self->message_.data(), message, length);
    self->message_[length] = '\0';
    std::longjmp(self->escape_, 1);
  }
  /// Says nothing: libpng warns of colour profiles that many programs write.
  static void on_warning(png_structp /*png*/, png_const_charp /*message*/) {}
  static void on_read(png_structp png, png_bytep to, std::size_t count) {
    auto* const self = static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > self->rest_.size()) png_error(png, "the file ends too early");
    std::memcpy(to, self->rest_.data(), count);
    self->rest_ = self->rest_.subspan(count);
  }

  bool read_header() {
    if (setjmp(escape_) != 0) return false;
    png_set_read_fn(png_, this, on_read);
    png_read_info(png_, info_);
    return true;
  }
  bool choose_colours() {
    if (setjmp(escape_) != 0) return false;
    png_set_expand(png_);
    png_set_strip_16(png_);
    png_set_gray_to_rgb(png_);
    png_set_strip_alpha(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }
  bool read_rows() {
    if (setjmp(escape_) != 0) return false;
    png_read_image(png_, rows_.data());
    png_read_end(png_, nullptr);
    return true;
  }

  tl::unexpected<Error> failure() const {
    return fail(ErrorCode::kCorrupt, "is a damaged PNG: {}", message_.data());
  }

  std::span<const std::byte> rest_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf escape_{};
  std::array<char, 128> message_{};
  Picture picture_;
  std::vector<png_bytep> rows_;
};

}  // namespace

Expected<Picture> decode_png(std::span<const std::byte> file) { return PngReader(file).read(); }

}  // namespace pareto::data
