#include "client/commands/stop_requests.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "core/base/file.h"

namespace pareto::client::commands {

Expected<StopRequests> StopRequests::of(int signal) {
  FileDescriptor all(::epoll_create1(EPOLL_CLOEXEC));
  FileDescriptor own(::eventfd(0, EFD_CLOEXEC));
  for (const int one : {signal, own.get()}) {
    if (one < 0 && one == signal) continue;
    epoll_event readable{};
    readable.events = EPOLLIN;
    if (!all || !own || ::epoll_ctl(all.get(), EPOLL_CTL_ADD, one, &readable) != 0) {
      return tl::unexpected(error_from_errno(errno, "waiting for requests to stop"));
    }
  }
  return StopRequests(std::move(all), std::move(own));
}

void StopRequests::request() const {
  const std::uint64_t once = 1;
  static_cast<void>(!::write(own_.get(), &once, sizeof once));
}

}  // namespace pareto::client::commands
