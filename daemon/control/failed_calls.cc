#include "daemon/control/failed_calls.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "core/base/counted.h"

namespace pareto::daemon {

bool FailedCalls::add(const char* call, const Error& error, TimePoint now) {
  const std::lock_guard lock(mutex_);
  if (now - begin_ >= kEvery) {
    if (const std::size_t more = std::exchange(left_out_, 0); more > 0) {
      spdlog::info("{} failed too", counted(more, "other call"));
    }
    begin_ = now;
    lines_ = 0;
  }
  if (lines_ == kMostLines) {
    ++left_out_;
    return false;
  }
  ++lines_;
  spdlog::info("{}: {}", call, error.message);
  return true;
}

}  // namespace pareto::daemon
