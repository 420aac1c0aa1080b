// Record of a condition that a process put on an interface: a small JSON file. It outlives the
// process, so the condition is found and taken back even after kill -9.
//
//   {"format": 1, "interface": "eth1", "index": 3, "name": "lte", "boot": "<boot id>", "pid": 812,
//    "started": 91823, "kept": false, "ifb": "pifb3", "most_segments": 65535,
//    "joins_incoming": true}
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto::netem {

/// The name of a device that an emulation makes: this and the number of the interface that it is
/// for.
inline constexpr const char* kIfbPrefix = "pifb";

struct EmulationRecord {
  std::string interface;
  unsigned index =
      0;  ///< the kernel's number of the interface; another one under the same name has another
  std::string name;  ///< name of the condition, for people
  std::string boot;  ///< nothing of another boot is in the kernel any more
  pid_t pid = 0;     ///< process that holds it, 0 nobody …
  std::uint64_t started =
      0;  ///< … and when that process began, as in /proc/PID/stat: numbers are used again
  bool kept = false;  ///< it stays after that process
  std::string ifb;    ///< the device that what comes in goes through; empty: none
  std::optional<std::uint32_t> most_segments;  ///< value before; no value means left alone
  std::optional<bool> joins_incoming;          ///< value before; no value means left alone
  bool operator==(const EmulationRecord&) const = default;
};

std::string to_json(const EmulationRecord& record);
/// Reads a record that to_json() wrote. Fails: kCorrupt.
Expected<EmulationRecord> parse_emulation_record(const std::string& text);

/// Makes a record of this process on this boot. Fails: kUnavailable (no /proc).
Expected<EmulationRecord> record_of_this_process();
/// Returns whether the process that wrote it still runs.
bool owner_lives(const EmulationRecord& record);
bool is_of_this_boot(const EmulationRecord& record);

/// The records of one folder that are about interfaces of one network namespace: the one that the
/// calling thread was in. Held, it keeps other processes from changing any meanwhile.
///
/// Threads: one owner.
class RecordFolder {
 public:
  struct Entry {
    std::string interface;
    Expected<EmulationRecord> record;  ///< kCorrupt: it is garbage
  };

  static constexpr Nanoseconds kPatience = std::chrono::seconds(5);

  /// Makes the folder; waits for the process that holds it, which is never for long. Fails:
  /// kPermission (root is needed), kUnavailable (it is held longer than that: every process that
  /// may read its lock can hold it).
  static Expected<RecordFolder> hold(const std::filesystem::path& folder,
                                     Nanoseconds patience = kPatience);

  /// Checks that records can be written here. Fails: kPermission.
  Expected<> check_writable() const;
  std::vector<Entry> list() const;
  /// Returns the entry; no value if there is no record of it.
  std::optional<Entry> find(const std::string& interface) const;
  Expected<> write(const EmulationRecord& record) const;
  void remove(const std::string& interface) const;

 private:
  RecordFolder(std::filesystem::path folder, std::string suffix, FileDescriptor lock)
      : folder_(std::move(folder)), suffix_(std::move(suffix)), lock_(std::move(lock)) {}
  std::filesystem::path path_of(const std::string& interface) const;

  std::filesystem::path folder_;
  std::string suffix_;  ///< "-4026531840.json": names are of a namespace
  FileDescriptor lock_;
};

}  // namespace pareto::netem
