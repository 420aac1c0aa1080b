#include "partitioner/model/readers/file_ends.h"

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace pareto::model {
namespace {

/// Reads `size` bytes, or fewer if the file has become shorter.
std::string read_at(std::ifstream& file, std::uint64_t from, std::uint64_t size) {
  std::string bytes(static_cast<std::size_t>(size), '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(from));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

}  // namespace

bool FileEnds::is_zip() const { return first.starts_with("PK\x03\x04"); }

bool FileEnds::has_zip_list() const { return lists("PK\x05\x06"); }

bool FileEnds::lists(std::string_view text) const { return last.find(text) != std::string::npos; }

Expected<FileEnds> read_ends(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return fail(ErrorCode::kNotFound, "{}: no such file", path.string());
  }
  if (!std::filesystem::is_regular_file(path, error)) {
    return fail(ErrorCode::kInvalidArgument, "{}: not a file", path.string());
  }
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return fail(ErrorCode::kPermission, "{}: it cannot be read", path.string());
  const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  const std::uint64_t most = std::min<std::uint64_t>(size, FileEnds::kMostBytes);
  return FileEnds{read_at(file, 0, most), read_at(file, size - most, most)};
}

}  // namespace pareto::model
