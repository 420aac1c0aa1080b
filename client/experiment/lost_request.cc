#include "client/experiment/lost_request.h"

#include <utility>

namespace pareto::client {

Error why_broken(std::optional<Error> sending, std::optional<Error> receiving) {
  // A request's own error and a timeout say more than the broken link that follows from them.
  const bool link_only = receiving && (receiving->code == ErrorCode::kClosed ||
                                       receiving->code == ErrorCode::kUnavailable);
  if (sending && (!receiving || (link_only && sending->code != ErrorCode::kClosed))) {
    return {sending->code, "sending a request: " + sending->message};
  }
  return *std::move(receiving);
}

}  // namespace pareto::client
