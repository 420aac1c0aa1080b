// A check that the front of a run follows from the figures that it shows.
#pragma once

#include <string>

#include "coordinator/results/record.h"

namespace pareto::test {

/// Returns what contradicts itself: a plan that another of its batch and network beats by the
/// figures as they are printed and that is marked as on the front, or one that none beats and is
/// not. Empty: nothing does.
std::string contradiction_in(const results::RunRecord& run);

}  // namespace pareto::test
