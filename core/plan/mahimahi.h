// Packet-delivery traces of Mahimahi (Netravali et al., USENIX ATC 2015), as recorded on mobile
// networks. Each line is the millisecond at which one packet of 1500 bytes may pass. After the last
// line the trace begins again.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/plan/condition.h"

namespace pareto::plan {

/// Rates of a trace that repeats.
struct RateTrace {
  std::vector<ConditionChange> rows;  ///< the first at 0; only rates
  Nanoseconds period{};
};

/// Reads the trace as rates over steps of 100 ms, the shortest that a rate is changed in; while
/// nothing may pass, the rate is 8 kbit/s. Fails: kInvalidArgument (not such a trace, or longer
/// than two and a half hours, faster than 100 gbit/s), with the line; kNotFound, kPermission.
Expected<RateTrace> read_mahimahi(const std::filesystem::path& path);
/// Parses a trace. `name` stands for the file in errors.
Expected<RateTrace> parse_mahimahi(std::string_view text, std::string_view name);

}  // namespace pareto::plan
