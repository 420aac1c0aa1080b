// A disk of its own for an imitated device: a folder that holds no more than that, and can be full.
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>

#include "core/base/error.h"

namespace pareto::netem {

/// A file system in memory. Only this thread and what it starts from now on see it, so that it ends
/// with them, also after kill -9.
///
/// Threads: the one that created it.
class SmallDisk {
 public:
  /// Makes `folder` such a disk, and the folder if it is not there. The calling thread gets a view
  /// of its own of what is mounted. Fails: kPermission (root is needed; a container must be allowed
  /// to mount), kUnavailable.
  static Expected<SmallDisk> create(const std::filesystem::path& folder, std::uint64_t bytes);
  ~SmallDisk();
  SmallDisk(SmallDisk&& other) noexcept
      : folder_(std::exchange(other.folder_, {})), bytes_(other.bytes_) {}
  SmallDisk& operator=(SmallDisk&&) = delete;

  /// Leaves no room for more than it holds now. Takes no memory. Fails: kUnavailable.
  Expected<> fill() const;
  /// Gives it its size again. Fails: kUnavailable.
  Expected<> free() const;

 private:
  SmallDisk(std::filesystem::path folder, std::uint64_t bytes)
      : folder_(std::move(folder)), bytes_(bytes) {}
  Expected<> resize(std::uint64_t bytes) const;

  std::filesystem::path folder_;
  std::uint64_t bytes_;
};

}  // namespace pareto::netem
