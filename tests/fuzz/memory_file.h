// Bytes as a file, for parsers that open a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/base/file_descriptor.h"

namespace pareto::fuzz {

/// A file in memory, gone when this ends. Threads: one owner.
class MemoryFile {
 public:
  MemoryFile(const void* data, std::size_t size) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (!file_ || ::write(file_.get(), data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

 private:
  FileDescriptor file_;
};

}  // namespace pareto::fuzz
