// Credentials that are read again while they are used, for programs without a main loop that would
// do it.
#pragma once

#include <functional>
#include <memory>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/tls/credentials.h"

namespace pareto::tls {

/// Files that changed are in use this soon (FORMAT.md).
inline constexpr Nanoseconds kRefreshEvery = std::chrono::minutes(1);

/// Returns the same credentials, which a thread refreshes until the last owner lets them go.
/// `complain` is called by that thread when files cannot be used, once for each reason. The last
/// owner waits for the thread, which has nothing to wait for. Fails: kExhausted (no thread).
Expected<std::shared_ptr<const Credentials>> keep_fresh(std::shared_ptr<Credentials> credentials,
                                                        std::function<void(const Error&)> complain,
                                                        Nanoseconds every = kRefreshEvery);

}  // namespace pareto::tls
