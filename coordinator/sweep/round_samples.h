// The samples of one round, out of the timelines of its requests.
//
// Replicas take turns at the requests: `turn` is the number of replicas, as Plan::turn(). A turn's
// latency is that of its slowest request: it is what is predicted, and what all its requests keep.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coordinator/load/load.h"
#include "coordinator/results/record.h"
#include "core/base/error.h"

namespace pareto::sweep {

/// Returns the latency of each whole turn, in ms.
std::vector<double> latencies_of(std::span<const load::RequestSample> samples, std::size_t turn);

/// Returns what a load's requests took, at window 1, on their way through `stages` stages of all
/// replicas together. Fails: kCorrupt (a result passed another number of stages).
Expected<results::TrialRound> samples_of(const load::LoadResult& result, std::size_t stages,
                                         std::size_t turn);

/// Adds to a round how long its stages were busy with requests that follow each other.
void add_busy_samples(const std::vector<load::RequestSample>& samples, std::size_t turn,
                      results::TrialRound& round);

/// Returns for how long the slowest stage or link is at work for each request, in ms. A stage
/// receives and sends while it computes, and a replica has one request of each turn.
double bottleneck_ms(const results::TrialRound& round, std::size_t turn);

}  // namespace pareto::sweep
