// What `testbed fault` and the process that holds the test bed say to each other, as lines of JSON
// (testbed_faults.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "netem/fault_plan.h"

namespace pareto::cluster {

struct FaultRequest {
  std::uint64_t number = 0;
  std::optional<netem::Fault> begins;  ///< no value: the fault of that number ends
};

std::string to_line(const FaultRequest& request);
/// Reads a request that to_line() wrote. Fails: kCorrupt.
Expected<FaultRequest> parse_fault_request(const std::string& line);

/// Writes the answer: what was done, or why it was not.
std::string answer_line(const Expected<std::string>& done);
/// Returns the answer. Fails: as the request failed, kCorrupt.
Expected<std::string> parse_fault_answer(const std::string& line);

}  // namespace pareto::cluster
