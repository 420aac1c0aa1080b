// What was made of some files, made again when they change.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace pareto::tls {

/// The state that tells a file from what it was; zeros if it is not seen.
struct FileStamp {
  std::uint64_t inode = 0;
  std::int64_t bytes = 0;
  /// Times of the last change of content, and of content or permissions: seconds, nanoseconds.
  std::array<std::int64_t, 4> changed{};
  bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_of(const std::string& path);

/// A value made of some files, which is made again when one of them changes.
///
/// Threads: any.
template <typename Loaded>
class WatchedFiles {
 public:
  explicit WatchedFiles(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  /// Calls `read`, which returns Expected<Loaded>, if a file is not what it was. True: the result
  /// is in use now. Files that could not be used are not read again until they change. Fails: as
  /// `read`; what was in use stays so.
  template <typename Read>
  Expected<bool> refresh(const Read& read) {
    const std::lock_guard refreshing(refreshing_);
    // They come first: a file that changes while it is read is read again.
    const std::vector<FileStamp> now = stamps();
    if (now == taken_) return false;
    if (now == refused_) return tl::unexpected(refusal_);
    Expected<Loaded> loaded = read();
    if (!loaded) {
      refused_ = now;
      refusal_ = loaded.error();
      return tl::unexpected(std::move(loaded).error());
    }
    auto fresh = std::make_shared<const Loaded>(*std::move(loaded));
    taken_ = now;
    const std::lock_guard lock(mutex_);
    in_use_ = std::move(fresh);
    return true;
  }

  /// Returns what is in use; null before the first refresh() that succeeded. It does not wait for a
  /// file system that refresh() waits for.
  std::shared_ptr<const Loaded> in_use() const {
    const std::lock_guard lock(mutex_);
    return in_use_;
  }

 private:
  std::vector<FileStamp> stamps() const {
    std::vector<FileStamp> all;
    for (const std::string& path : paths_) all.push_back(stamp_of(path));
    return all;
  }

  const std::vector<std::string> paths_;
  std::mutex refreshing_;                          ///< held while files are read; guards:
  std::optional<std::vector<FileStamp>> taken_;    ///< no value: none was in use yet
  std::optional<std::vector<FileStamp>> refused_;  ///< of files that could not be used
  Error refusal_{};
  mutable std::mutex mutex_;  ///< guards in_use_
  std::shared_ptr<const Loaded> in_use_;
};

}  // namespace pareto::tls
