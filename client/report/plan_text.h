// Words for a trial that tables and pages share.
#pragma once

#include <cstdint>
#include <string>

#include "coordinator/results/record.h"

namespace pareto::report {

/// Returns "all on pi-1", or of replicas "all on pi-1 and pi-2 in turns".
std::string all_on(const plan::Plan& plan);
/// Returns "after:features.7", or as all_on(); the name of a plan that was handed over as a file.
std::string plan_name(const results::TrialRecord& trial);
/// Returns "tcp"; "tcp int8" where a codec is used, "tcp lz4 (auto)" where it was chosen; "tcp by
/// 2" where a batch travels in twos.
std::string link_of(const results::TrialRecord& trial);
/// Returns "tcp, batch 8" or, under a condition, "tcp, batch 8, wifi".
std::string setting_of(const results::TrialRecord& trial);
/// Returns "batch 8" or, under a condition, "batch 8, wifi". If the run has plans on `several`
/// networks, "batch 8, network none" is one of them.
std::string group_name(std::int64_t batch, const std::string& condition, bool several);
/// Returns four significant digits: "8.914", "165.3", "1204".
std::string format_figure(double value);
/// Returns "[8.87, 8.95]".
std::string format_interval(const results::Interval& interval);
/// Returns what computing and transfer leave of a latency; "-" if their medians exceed it.
std::string rest_text(const results::TimeSplit& split);
/// Returns "= 29.26 compute + 14.38 transfer + 1.880 rest", or the two parts that exceed the whole.
std::string time_split_text(const results::TimeSplit& split);
/// Returns ", schedule mixed (why)" of a stage, or nothing of one whose operators run in order.
std::string schedule_text(const results::StageFigures& stage);

}  // namespace pareto::report
