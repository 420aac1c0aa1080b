// Changes of folders that last, and that are there at once or not at all.
#pragma once

#include <filesystem>

#include "core/base/error.h"

namespace pareto {

/// Waits until the disk has a folder's names. Fails: as the file system does, with the folder's
/// name.
Expected<> flush_folder(const std::filesystem::path& folder);

/// Lets two folders trade their names at once. Returns false if the file system cannot. Fails: as
/// the file system does, with the name of `other`.
Expected<bool> exchange_folders(const std::filesystem::path& one,
                                const std::filesystem::path& other);

}  // namespace pareto
