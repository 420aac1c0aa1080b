// Whether two stored runs measured the same thing, and what was different about how they did.
#pragma once

#include <string>
#include <vector>

#include "coordinator/results/record.h"
#include "coordinator/statistics/statistics_comparison.h"
#include "core/base/error.h"

namespace pareto::statistics {

/// Two trials of the same plan: same split points, devices (by name), transport, codec asked for, batch, micro-batch and condition.
/// Of two plans that were handed over as files the names are the same too.
bool same_plan(const results::TrialRecord& a, const results::TrialRecord& b);

/// The trial of the same plan; of several, which differ in settings, the one called the same. Null: there is none.
const results::TrialRecord* find_plan(const results::RunRecord& run,
                                      const results::TrialRecord& like);

/// What sets two runs apart beside the software: settings, devices, networks of one name, an unfinished run, and a fixed loop of the sentinel
/// that took longer. They are differences somebody may want to measure (what does bf16 bring?), so they are told and not refused. One
/// sentence each.
/// Fails: kInvalidArgument where no ratio would mean anything: another model, or inputs of another size.
Expected<std::vector<std::string>> compare_settings(const results::RunRecord& a,
                                                    const results::RunRecord& b);

/// How many times longer the sentinel's loop, which only computes, took in b: the machine itself, whatever was measured on it.
Ratio machine_ratio(const results::RunRecord& a, const results::RunRecord& b);

}  // namespace pareto::statistics
