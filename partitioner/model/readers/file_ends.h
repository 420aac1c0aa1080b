// The bytes that a file's format is recognised by. No LibTorch.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace pareto::model {

/// The first and the last bytes of a file, at most kMostBytes each. They overlap in a short file.
struct FileEnds {
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;

  std::string first;
  std::string last;

  /// Returns whether the file begins as a zip archive does.
  bool is_zip() const;
  /// Returns whether the list of a zip archive's records, which ends the archive, is there.
  bool has_zip_list() const;
  /// Returns whether the last bytes hold a text: of a zip archive, a part of a record's name.
  bool lists(std::string_view text) const;
};

/// Reads the ends of a file, however large it is. Fails: kNotFound, kInvalidArgument (a folder, a
/// pipe, a device), kPermission.
Expected<FileEnds> read_ends(const std::filesystem::path& path);

}  // namespace pareto::model
