// When tasks come: all at once, at random, or as a trace has it.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "partitioner/planning/tasks/task.h"

namespace pareto::tasks {

struct Arrivals {
  double rate_per_s = 0;          ///< mean rate of a Poisson process; 0: it is none
  std::vector<Nanoseconds> gaps;  ///< of a trace, which begins again at its end; empty: it is none
};

/// Parses "together", "poisson:20/s" or "trace:FILE", whose file is looked for in `folder`.
/// Fails: kInvalidArgument naming what there is, kNotFound, kPermission.
Expected<Arrivals> parse_arrivals(const std::string& text, const std::filesystem::path& folder);

/// The longest time from the start of a run to an arrival.
inline constexpr std::chrono::hours kLatestArrival{24};

/// Returns the moments of `count` arrivals, ascending. The first one of a trace is moment 0. Equal
/// random states give equal moments. One after kLatestArrival may be earlier than it should.
std::vector<Nanoseconds> arrival_times(const Arrivals& arrivals, std::size_t count,
                                       std::mt19937_64& random);

/// Checks that tasks come by kLatestArrival. Fails: kInvalidArgument naming the first that comes
/// later.
Expected<> check_arrivals(const TaskSet& set);

/// Returns a number from 0 up to but not 1. It is the same on every machine.
double draw_share(std::mt19937_64& random);

}  // namespace pareto::tasks
