// A process of this machine, to be signalled and waited for.
#pragma once

#include <sys/types.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto {

/// A process by its descriptor: it goes on meaning that process when its number has become
/// another's.
///
/// Threads: any.
class ProcessHandle {
 public:
  /// Opens a handle of a process that runs. Fails: kNotFound (there is none), kExhausted.
  static Expected<ProcessHandle> open(pid_t process);

  /// Sends a signal; one to a process that has ended goes nowhere. Fails: kPermission.
  Expected<> signal(int number) const;
  /// Returns when it has ended; whose child it is has to reap it still. `stop`: -1, or a descriptor
  /// that ends the wait once it is readable. Fails: kTimeout, kClosed (stopped).
  Expected<> wait_for_end(Deadline deadline, int stop = -1) const;

 private:
  explicit ProcessHandle(FileDescriptor descriptor) : descriptor_(std::move(descriptor)) {}
  FileDescriptor descriptor_;
};

}  // namespace pareto
