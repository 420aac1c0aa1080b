#include "core/base/poll.h"

#include <algorithm>
#include <cerrno>

#include "core/base/file.h"

namespace pareto {

Expected<> poll_until(std::span<pollfd> polled, Deadline deadline) {
  while (true) {
    timespec left{};
    if (deadline) {
      const auto duration = std::max(
          std::chrono::duration_cast<Nanoseconds>(*deadline - std::chrono::steady_clock::now()),
          Nanoseconds(0));
      left.tv_sec = duration.count() / 1'000'000'000;
      left.tv_nsec = duration.count() % 1'000'000'000;
    }
    const int ready = ::ppoll(polled.data(), polled.size(), deadline ? &left : nullptr, nullptr);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return tl::unexpected(error_from_errno(errno, "poll"));
    if (ready == 0) return fail(ErrorCode::kTimeout, "the deadline passed");
    return {};
  }
}

}  // namespace pareto
