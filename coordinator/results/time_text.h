// Points in time as people and files write them.
#pragma once

#include <chrono>
#include <string>

namespace pareto::results {

/// Returns the time by ISO 8601, UTC: "2026-01-31T10:15:02Z".
std::string time_text(std::chrono::system_clock::time_point time);
/// Returns the time of now as text, and never one before `started`: the clock may have been set
/// back meanwhile.
std::string end_time_text(const std::string& started);
/// Sorts by time, and two runs of one second differ: "20260131-101502-ab12".
std::string make_run_id(std::chrono::system_clock::time_point time);

}  // namespace pareto::results
