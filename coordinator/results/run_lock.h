// Whose run it is: two processes that measured one run would each put whole trials over the other's
// rounds.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto::results {

/// A run that this process measures, until it lets go or ends, whatever ends it: the kernel holds
/// the lock. Others may look at the run all the while. It is one byte of a file next to the results
/// ("results.db.lock"), which is left there empty: nothing has to be cleaned up.
///
/// Threads: one owner.
class RunLock {
 public:
  /// Takes the lock of a run in the results file `store`. Returns no value if another process
  /// measures the run. Fails: kNotFound (no such folder), kPermission, kExhausted.
  static Expected<std::optional<RunLock>> try_take(const std::filesystem::path& store,
                                                   std::string_view run_id);

  /// Returns whether a process measures the run. Makes no file; where it may not be looked at,
  /// nobody does.
  static bool is_taken(const std::filesystem::path& store, std::string_view run_id);

 private:
  explicit RunLock(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
};

}  // namespace pareto::results
