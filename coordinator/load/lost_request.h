// Decides when a request counts as lost, and describes the pipeline that lost it.
#pragma once

#include <chrono>
#include <optional>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::load {

/// The longest that a request may take unless --timeout says otherwise: a dead device is noticed in
/// bounded time.
inline constexpr std::chrono::milliseconds kRequestTimeout{30'000};

/// Returns the timeout for requests with `window` of them in flight, if a lone one took `latency`.
/// It is 50 times as much for each, or `asked` if that is longer.
std::chrono::milliseconds timeout_for(Nanoseconds latency, int window,
                                      std::chrono::milliseconds asked);

/// Makes the error of a request whose result did not come: kTimeout, with the limit and how to
/// change it.
Error no_result_in(std::chrono::milliseconds timeout);
/// Makes the error of a request that a link did not take; the same if it is a timeout.
Error not_sent(const Error& error, std::chrono::milliseconds timeout);
/// Returns why a pipeline broke, from the errors of its two ends, at least one: the end that fails
/// first closes the other, which then fails too.
Error why_broken(const std::optional<Error>& sending, const std::optional<Error>& receiving);

}  // namespace pareto::load
