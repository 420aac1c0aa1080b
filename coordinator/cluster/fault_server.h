// The socket at which a process that holds a test bed takes faults from `testbed fault`.
#pragma once

#include <filesystem>

#include "coordinator/cluster/testbed_faults.h"
#include "core/base/error.h"

namespace pareto::cluster {

/// Takes faults at a socket from one process at a time, until `stop` is readable. What a process
/// made ends with its connection, whatever ends that. Lines of JSON:
///
///   {"do": "begin", "number": 3, "fault": "kill", "place": "pi-1", …}
///   {"do": "end", "number": 3}
///
/// and an answer to each: {"done": "pi-1: process 812 killed"} or {"error": "…"}.
/// Fails: as listen_at.
Expected<> serve_faults(const std::filesystem::path& socket, TestbedFaults& faults, int stop);

}  // namespace pareto::cluster
