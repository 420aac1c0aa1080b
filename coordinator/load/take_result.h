// One result at the end of a pipeline: its values, which may come one by one, or why its request
// failed.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/transport.h"

namespace pareto::load {

struct TakenResult {
  transport::Received received;
  std::optional<Error> failure;  ///< failure of only this request: the pipeline goes on
};

/// Takes the result of `request`, which may take `timeout` since it was sent. Pipelines keep the
/// order, so any other one is an error of the peer. Fails: kTimeout, kCorrupt, kClosed (the
/// pipeline ended), and as links do: nothing more is to be had of that pipeline then.
Expected<TakenResult> take_result(transport::Link& sink, std::uint64_t request, TimePoint sent,
                                  std::chrono::milliseconds timeout);

}  // namespace pareto::load
