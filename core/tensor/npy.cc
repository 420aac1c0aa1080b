#include "core/tensor/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "core/base/file.h"
#include "core/base/text.h"

namespace pareto {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{4} << 30;
/// The most bytes of a file that is read by rows in which its header has to end.
constexpr std::uint64_t kMostHeaderBytes = std::uint64_t{1} << 20;

struct NpyType {
  DType dtype;
  std::string_view descr;
};
constexpr std::array<NpyType, 11> kTypes{{{DType::kUInt8, "|u1"},
                                          {DType::kInt8, "|i1"},
                                          {DType::kInt16, "<i2"},
                                          {DType::kInt32, "<i4"},
                                          {DType::kInt64, "<i8"},
                                          {DType::kFloat16, "<f2"},
                                          {DType::kFloat32, "<f4"},
                                          {DType::kFloat64, "<f8"},
                                          {DType::kComplex64, "<c8"},
                                          {DType::kComplex128, "<c16"},
                                          {DType::kBool, "|b1"}}};

/// Returns what follows "'key': " in the header's dict, up to `end`.
std::optional<std::string_view> field(std::string_view header, std::string_view key,
                                      std::string_view begin, std::string_view end) {
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t from = header.find(begin, at + key.size());
  if (from == std::string_view::npos) return std::nullopt;
  const std::size_t start = from + begin.size();
  const std::size_t stop = header.find(end, start);
  if (stop == std::string_view::npos) return std::nullopt;
  return header.substr(start, stop - start);
}

Expected<Shape> parse_shape(std::string_view text) {
  Shape shape;
  for (const std::string& part : split_list(text)) {
    std::int64_t size = 0;
    const auto [end, status] = std::from_chars(part.data(), part.data() + part.size(), size);
    if (status != std::errc() || end != part.data() + part.size() || shape.size() >= 64) {
      return fail(ErrorCode::kCorrupt, "its shape ({}) cannot be read", text);
    }
    shape.push_back(size);
  }
  return shape;
}

struct NpyHeader {
  DType dtype;
  Shape shape;
  std::size_t data_at;  ///< place of the first element in the file
};

/// Reads the header at the beginning of a file of `file_bytes`.
Expected<NpyHeader> parse_header(std::string_view beginning, std::uint64_t file_bytes) {
  if (beginning.size() < 12 || !beginning.starts_with(kMagic)) {
    return fail(ErrorCode::kCorrupt, "is no .npy file");
  }
  const bool short_header = beginning[6] == 1;
  std::size_t length = 0;
  for (int i = short_header ? 1 : 3; i >= 0; --i) {
    length = length << 8 | static_cast<unsigned char>(beginning[8 + static_cast<std::size_t>(i)]);
  }
  const std::size_t start = short_header ? 10 : 12;
  if (length > beginning.size() - start) return fail(ErrorCode::kCorrupt, "ends within its header");
  const std::string_view header = beginning.substr(start, length);
  const auto kind = field(header, "'descr'", ":", ",");
  if (kind && kind->find_first_of("[(") != std::string_view::npos) {
    return fail(ErrorCode::kInvalidArgument,
                "is a structured array; save one of its fields: numpy.save(file, x['name'])");
  }
  const auto descr = field(header, "'descr'", "'", "'");
  const auto order = field(header, "'fortran_order'", ":", ",");
  const auto sizes = field(header, "'shape'", "(", ")");
  if (!descr || !order || !sizes) return fail(ErrorCode::kCorrupt, "its header cannot be read");
  if (order->find("False") == std::string_view::npos) {
    return fail(ErrorCode::kInvalidArgument,
                "is in Fortran order; save numpy.ascontiguousarray(x)");
  }
  const auto type = std::find_if(kTypes.begin(), kTypes.end(),
                                 [&](const NpyType& row) { return row.descr == *descr; });
  if (type == kTypes.end())
    return fail(ErrorCode::kInvalidArgument, "has dtype {}, which is not taken", *descr);
  PARETO_ASSIGN(Shape shape, parse_shape(*sizes));
  PARETO_ASSIGN(const std::int64_t elements, element_count(shape));
  const std::uint64_t present = file_bytes - start - length;
  if (static_cast<std::uint64_t>(elements) > present / size_of(type->dtype)) {
    return fail(ErrorCode::kCorrupt, "holds {} bytes, too few for shape {}", present,
                to_string(shape));
  }
  return NpyHeader{type->dtype, std::move(shape), start + length};
}

Expected<Tensor> parse(const std::string& file) {
  PARETO_ASSIGN(NpyHeader header, parse_header(file, file.size()));
  PARETO_ASSIGN(Tensor tensor, Tensor::allocate(header.dtype, std::move(header.shape)));
  if (tensor.size_bytes() > 0) {
    std::memcpy(tensor.mutable_bytes().data(), file.data() + header.data_at, tensor.size_bytes());
  }
  return tensor;
}

}  // namespace

Expected<Tensor> read_npy(const std::filesystem::path& path) {
  PARETO_ASSIGN(const std::string file, read_file(path, kMaxFileBytes));
  return with_context(parse(file), "{}", path.string());
}

Expected<> check_npy_type(DType dtype) {
  if (std::ranges::find(kTypes, dtype, &NpyType::dtype) != kTypes.end()) return {};
  return fail(ErrorCode::kInvalidArgument, "NumPy has no {}", to_string(dtype));
}

Expected<> write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  PARETO_TRY(with_context(check_npy_type(tensor.dtype()), "{}", path.string()));
  const auto type = std::ranges::find(kTypes, tensor.dtype(), &NpyType::dtype);
  std::string shape;
  for (const std::int64_t size : tensor.shape()) shape += std::to_string(size) + ",";
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type->descr, shape);
  header.resize((header.size() + 10) / 64 * 64 + 64 - 10 - 1, ' ');
  header += '\n';
  std::string file(kMagic);
  file += std::string("\x01\x00", 2);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  PARETO_ASSIGN(const Tensor rows, row_major(tensor));
  file.append(reinterpret_cast<const char*>(rows.bytes().data()), rows.size_bytes());
  return write_file_atomically(path, file);
}

Expected<NpyFile> NpyFile::open(const std::filesystem::path& path) {
  PARETO_ASSIGN(RandomAccessFile file, RandomAccessFile::open(path));
  std::string beginning(std::min(file.size_bytes(), kMostHeaderBytes), '\0');
  PARETO_TRY(file.read(0, std::as_writable_bytes(std::span(beginning))));
  PARETO_ASSIGN(NpyHeader header,
                with_context(parse_header(beginning, file.size_bytes()), "{}", path.string()));
  return NpyFile(std::move(file), header.dtype, std::move(header.shape), header.data_at);
}

Expected<Tensor> NpyFile::row(std::int64_t index) const {
  if (shape_.empty() || index < 0 || index >= shape_[0]) {
    return fail(ErrorCode::kInvalidArgument, "{}: no row {} of {}", file_.path().string(), index,
                to_string(shape_));
  }
  PARETO_ASSIGN(Tensor tensor, Tensor::allocate(dtype_, Shape(shape_.begin() + 1, shape_.end())));
  const std::uint64_t offset = data_at_ + static_cast<std::uint64_t>(index) * tensor.size_bytes();
  PARETO_TRY(file_.read(offset, tensor.mutable_bytes()));
  return tensor;
}

}  // namespace pareto
