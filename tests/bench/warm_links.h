// What a warm connection is judged on: two namespaces, a link of 100 Mbit/s and 20 ms one way
// between them, and a process in one of them.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/bench/bench.h"

namespace pareto::bench {

/// Measures the first request after deploying, and one after two seconds of idling, against one
/// that follows another; and with many in flight a result's time against that of the link: over the
/// emulated link, a boundary of about 300 KB, with that congestion control on both sides. In a
/// process of its own, because a process is in one namespace.
Expected<std::vector<Row>> warm_links(const std::string& name, const std::string& transport,
                                      const std::string& congestion_control);

/// Runs that process: main() of `pareto_bench warm-links`.
int run_warm_links(int argc, char** argv);

}  // namespace pareto::bench
