// The records of a zip archive, read from memory with every count and size checked. A TorchScript
// archive of a shard is such a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace pareto::runtime {

/// Bounds of an archive. A shard's has its code, its pickles and few small tensors.
inline constexpr std::size_t kMostRecords = 10'000;
/// Bytes of all records that are compressed, when they are not any more.
inline constexpr std::uint64_t kMostInflatedBytes = std::uint64_t{64} << 20;

/// A record of an archive.
struct ZipRecord {
  std::string name;            ///< "archive/code/__torch__.py"
  std::uint64_t size = 0;      ///< bytes, when it is not compressed any more
  bool compressed = false;     ///< by Deflate; else `bytes` is the record
  std::string_view bytes{};    ///< its bytes in the archive
  std::uint32_t checksum = 0;  ///< CRC-32 of the record
  std::uint64_t name_at = 0;   ///< place of its name in the list, from the archive's begin
};

/// Reads the list of an archive that can be read in one way only:
/// - The list ends the file, without a comment, on one disk.
/// - Records follow each other without overlaps, and their own headers say what the list says. The
///   first one begins the archive.
/// - Names are of printable ASCII without "..", "\" or a "/" at the beginning, and no two differ
///   only in the size of letters.
///
/// The records refer to `archive`. Fails: kCorrupt.
Expected<std::vector<ZipRecord>> read_zip_list(std::string_view archive);

/// Returns the record's bytes, inflated. Fails: kCorrupt (another size or checksum).
Expected<std::string> read_zip_record(const ZipRecord& record);

/// Changes the list of an archive so that who looks for a record whose name ends so, in letters of
/// any size, finds none. Nothing moves. `ending` has small letters. Fails: as read_zip_list.
Expected<> hide_records(std::span<char> archive, std::string_view ending);

}  // namespace pareto::runtime
