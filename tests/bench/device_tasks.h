// Tasks over the two devices of a test bed, against each of them.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/bench/bench.h"

namespace pareto::bench {

/// Measures the makespan of 12 tasks on an imitated Raspberry Pi 5 and a server, with gigabit
/// Ethernet between them, against the better one of the two. In a process of its own, because a
/// process is in one namespace.
Expected<std::vector<Row>> device_tasks(const std::string& name);

/// Runs that process: main() of `pareto_bench device-tasks`.
int run_device_tasks(int argc, char** argv);

}  // namespace pareto::bench
