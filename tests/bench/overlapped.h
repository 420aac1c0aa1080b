// The schedule "overlap" over a slow link, against the same pipeline without it.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/bench/bench.h"

namespace pareto::bench {

/// Measures a request through two devices of one thread, with 100 Mbit/s between them that take
/// longer than either stage: a batch of 8, and one sample, which may not be cut. In a process of
/// its own, because a process is in one namespace.
Expected<std::vector<Row>> overlapped(const std::string& name);

/// Runs that process: main() of `pareto_bench overlapped`.
int run_overlapped(int argc, char** argv);

}  // namespace pareto::bench
