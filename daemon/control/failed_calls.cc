#include "daemon/control/failed_calls.h"

#include <spdlog/spdlog.h>

namespace pareto::daemon {

bool FailedCalls::add(const char* call, const Error& error, TimePoint now) {
  const std::lock_guard lock(mutex_);
  const auto times = lines_.due(now);
  if (times) spdlog::info("{}: {}{}", call, error.message, since_last_line(*times));
  return times.has_value();
}

}  // namespace pareto::daemon
