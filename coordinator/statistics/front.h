// The figures that a run shows, which trials no other beats by them, and how sure that is.
//
// Each measured trial has one figure of latency and one of throughput, with 95 % intervals: an
// estimate, rounded as it is printed. Tables, pages, CSV and JSON show that number, it decides what
// is on the front, and lists are sorted by it. The medians of what was measured stand next to it
// (measured_p50_ms, measured_per_s).
//
//   exhaustive sweep   the estimate is the median of the trial's rounds
//   adaptive sweep     the estimate is what predictions and all rounds together say
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "coordinator/results/record.h"
#include "coordinator/statistics/round_noise.h"
#include "partitioner/planning/objective/objective.h"

namespace pareto::statistics {

/// Figures that the inventory says of devices, by their names.
using FiguresByDevice = std::map<std::string, planning::DeviceFigures>;

/// Returns the figures shown for a trial, with those of its devices that are known.
planning::Measurement measurement_of(const results::TrialRecord& trial,
                                     const FiguresByDevice& figures = {});

/// Returns whether a trial has its figures.
bool is_measured(const results::TrialRecord& trial);

/// Sets the medians of what was measured from the trial's rounds, and figures and intervals as if
/// no other trial were known. Its p_front is left unsettled.
void settle_alone(results::TrialRecord& trial);

/// Sets figures and intervals of every measured trial from its rounds and those of its batch and
/// condition.
void show_rounds(std::vector<results::TrialRecord>& trials);
/// Sets figures, intervals, on_front and p_front of every measured trial from its rounds, among
/// those of its batch and condition, all transports together. Failed and unmeasured trials are on
/// no front; P(front) of those that may still be measured is left unsettled.
void settle_by_rounds(std::vector<results::TrialRecord>& trials, std::uint64_t seed);

/// The knowledge about a trial from predictions and rounds together: natural logarithms with their
/// standard deviations.
struct Belief {
  double latency = 0;
  double latency_deviation = 0;
  double throughput = 0;
  double throughput_deviation = 0;
  double p_front = 0;
};
/// Sets the same of measured trials from what is believed of them, and p_front of all. It is left
/// unsettled of unmeasured trials whose predictions are no guide. One belief for each trial.
void settle_by_beliefs(std::vector<results::TrialRecord>& trials, std::span<const Belief> beliefs);

/// Sets on_front: of measured trials of each batch and condition, those that no other beats by the
/// figures that are shown of these objectives.
void mark_on_front(
    std::vector<results::TrialRecord>& trials,
    const std::vector<const planning::Objective*>& objectives = planning::latency_and_throughput(),
    const FiguresByDevice& figures = {});

}  // namespace pareto::statistics
