#include "core/base/process_handle.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/base/file.h"
#include "core/base/poll.h"

namespace pareto {

Expected<ProcessHandle> ProcessHandle::open(pid_t process) {
  FileDescriptor descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (descriptor) return ProcessHandle(std::move(descriptor));
  if (errno == ESRCH) return fail(ErrorCode::kNotFound, "there is no process {}", process);
  return tl::unexpected(error_from_errno(errno, fmt::format("process {}", process)));
}

Expected<> ProcessHandle::signal(int number) const {
  if (::syscall(SYS_pidfd_send_signal, descriptor_.get(), number, nullptr, 0) == 0 ||
      errno == ESRCH) {
    return {};
  }
  return tl::unexpected(error_from_errno(errno, "signalling a process"));
}

Expected<> ProcessHandle::wait_for_end(Deadline deadline, int stop) const {
  std::array<pollfd, 2> polled{{{descriptor_.get(), POLLIN, 0}, {stop, POLLIN, 0}}};
  PARETO_TRY(poll_until(polled, deadline));
  if (polled[0].revents == 0) return fail(ErrorCode::kClosed, "stopped");
  return {};
}

}  // namespace pareto
