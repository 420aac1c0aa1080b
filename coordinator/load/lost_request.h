// When a request counts as lost, and what is said of the pipeline that lost it.
#pragma once

#include <chrono>
#include <optional>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::load {

/// What a request may take unless --timeout says otherwise: how a dead device is noticed in bounded time.
inline constexpr std::chrono::milliseconds kRequestTimeout{30'000};

/// Where a request that was alone took so long and `window` of them are in flight: 50 times as much for each, if that is more than `asked`.
std::chrono::milliseconds timeout_for(Nanoseconds latency, int window,
                                      std::chrono::milliseconds asked);

/// Of a request whose result did not come: kTimeout, with the limit and how to change it.
Error no_result_in(std::chrono::milliseconds timeout);
/// Of a request that a link did not take; the same where it is a timeout.
Error not_sent(const Error& error, std::chrono::milliseconds timeout);
/// Why a pipeline broke, of what failed at its two ends, at least one of them: who fails first closes the other end, which then fails too.
Error why_broken(std::optional<Error> sending, std::optional<Error> receiving);

}  // namespace pareto::load
