// Points in time as people and files write them.
#pragma once

#include <chrono>
#include <string>

namespace pareto::results {

/// Returns the time by ISO 8601, UTC: "2026-01-31T10:15:02Z".
std::string time_text(std::chrono::system_clock::time_point time);
/// Sorts by time, and two runs of one second differ: "20260131-101502-ab12".
std::string make_run_id(std::chrono::system_clock::time_point time);

}  // namespace pareto::results
