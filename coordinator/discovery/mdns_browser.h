// Finds who announces a service on this machine's networks, by multicast DNS. No service has to run
// here: the question is sent from a port of its own, and answers come back to it (RFC 6762, 5.1 and
// 6.7). Avahi, or another responder next to each daemon, answers.
#pragma once

#include <string_view>
#include <vector>

#include "coordinator/discovery/service_finder.h"
#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::discovery {

/// Asks on every interface that is up and takes multicast, again and again with longer pauses.
/// Collects answers for all of `time`, because no answer is the last. `service` is
/// "_pareto-edge._tcp". Blocks.
/// Fails: kUnavailable (no such interface), kInvalidArgument (no name).
Expected<std::vector<FoundDevice>> browse(std::string_view service, Nanoseconds time);

}  // namespace pareto::discovery
