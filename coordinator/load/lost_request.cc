#include "coordinator/load/lost_request.h"

#include <algorithm>
#include <string>
#include <utility>

namespace pareto::load {
namespace {

// A request that takes this many times what it should is lost.
constexpr double kTimesExpected = 50;
constexpr Nanoseconds kLongest = std::chrono::hours(24);

std::string limit_text(std::chrono::milliseconds timeout) {
  return fmt::format("in {:g} s; where requests take longer, allow them more: --timeout",
                     to_seconds(timeout));
}

}  // namespace

std::chrono::milliseconds timeout_for(Nanoseconds latency, int window,
                                      std::chrono::milliseconds asked) {
  const double patience =
      std::min(kTimesExpected * to_nanoseconds(latency) * window, to_nanoseconds(kLongest));
  return std::max(
      asked, std::chrono::duration_cast<std::chrono::milliseconds>(from_nanoseconds(patience)));
}

Error no_result_in(std::chrono::milliseconds timeout) {
  return {ErrorCode::kTimeout, "no result " + limit_text(timeout)};
}

Error not_sent(const Error& error, std::chrono::milliseconds timeout) {
  const bool in_time = error.code != ErrorCode::kTimeout;
  return {error.code,
          "sending a request: " + (in_time ? error.message : "not taken " + limit_text(timeout))};
}

Error why_broken(const std::optional<Error>& sending, const std::optional<Error>& receiving) {
  // A request's own error and a timeout say more than the broken link that follows from them.
  const bool link_only = receiving && (receiving->code == ErrorCode::kClosed ||
                                       receiving->code == ErrorCode::kUnavailable);
  const bool is_sending =
      sending && (!receiving || (link_only && sending->code != ErrorCode::kClosed));
  return is_sending ? *sending : *receiving;
}

}  // namespace pareto::load
