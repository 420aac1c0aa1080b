// Checkpoints of a training in a folder, each whole or not there. Format: coordinator/train/
// FORMAT.md.
//
//   DIR/step-000000000120/manifest.json   what is trained, how far it has come, a list of tensors
//                         tensors.bin     their bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/train/training_setup.h"
#include "coordinator/train/training_state.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/plan/training_values.h"

namespace pareto::train {

/// All that a training goes on from.
struct Checkpoint {
  TrainingSetup setup;
  TrainingProgress progress;
  std::vector<plan::StateTensor> state;  ///< each name once
};

/// Reads one checkpoint: the folder that holds manifest.json. It is foreign data: every size is
/// checked before memory is allocated, and every digest afterwards. Fails: kNotFound, kPermission,
/// kCorrupt naming the file and what is wrong.
Expected<Checkpoint> read_checkpoint(const std::filesystem::path& path);

struct FoundCheckpoint {
  std::filesystem::path path;
  Checkpoint checkpoint;
  /// Newer checkpoints that are damaged, a sentence each.
  std::vector<std::string> damaged;
};

/// Reads the newest checkpoint of a folder that is whole; or the one that `path` itself is. Fails:
/// kNotFound (no checkpoint there), kCorrupt (none is whole, with the newest one's reason).
Expected<FoundCheckpoint> newest_checkpoint(const std::filesystem::path& path);

/// A folder of checkpoints that belongs to one process.
///
/// Threads: one owner.
class CheckpointFolder {
 public:
  /// Makes the folder if there is none, and removes what a process that was killed left half
  /// written. `keep`: checkpoints that stay, the newest ones; at least 1. Fails: kInvalidArgument
  /// (it is no folder), kUnavailable (another process has it), kPermission, kExhausted.
  static Expected<CheckpointFolder> open(const std::filesystem::path& folder, std::size_t keep);

  /// Writes a checkpoint next to the others, then renames it, then removes the oldest ones. Until
  /// it is whole on the disk, those before it stay as they are. Returns its path. Fails: kExhausted
  /// (disk full), kPermission; nothing half written is left.
  Expected<std::filesystem::path> write(const Checkpoint& checkpoint);

  const std::filesystem::path& path() const { return folder_; }
  /// Returns its checkpoints, the newest one first, by their names.
  std::vector<std::filesystem::path> checkpoints() const;

 private:
  CheckpointFolder(std::filesystem::path folder, std::size_t keep, std::optional<FolderLock> lock)
      : folder_(std::move(folder)), keep_(keep), lock_(std::move(lock)) {}
  /// Removes all but the newest of those that are no newer than `written`.
  void remove_oldest(const std::filesystem::path& written) const;

  std::filesystem::path folder_;
  std::size_t keep_;
  std::optional<FolderLock> lock_;  ///< no value: the file system has no locks
};

}  // namespace pareto::train
