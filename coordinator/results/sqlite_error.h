// Converts what SQLite reports to our errors.
#pragma once

#include <filesystem>

#include "core/base/error.h"

namespace SQLite {
class Exception;
}

namespace pareto::results {

/// Returns an error whose sentence names the file and the remedy. `system_errno` is
/// sqlite3_system_errno of the connection, 0 if there is none.
Error error_from_sqlite(const SQLite::Exception& exception, int system_errno,
                        const std::filesystem::path& path);

}  // namespace pareto::results
