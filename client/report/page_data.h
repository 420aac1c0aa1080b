// Data of a run for the HTML report: a smaller form of the document of `sweep --json`
// (coordinator/results/record_json.h), and what only the page shows. client/report/assets/view.js
// reads it.
//
//   every figure    six significant digits
//   plan            what the plans of all trials have in common
//   trials          without "network". "plan" has what is not in the run's "plan"; its splits and
//                   its batch stand in the trial. "split" has its boundaries only in "cuts".
//   adaptive        whether its front, and how sure it is, are by what is expected of plans
//   trials[].requests
//                   {"p50": [...], "p90": [...], "p99": [...]}: the measured request whose latency
//                   is nearest to that figure. In ms: its latency; then for each stage the transfer
//                   to it (half the link's smallest round trip, and from the first byte to the
//                   last), waiting in its queue, computing, encoding; last the transfer to the
//                   sink. Only if samples were kept.
//   disturbances    what made figures vary, for a badge: "kind" is "busy" (processes of others on a
//                   machine) or "company" (pipelines of another coordinator on a device), "where"
//                   names machine or device, "text" says it. Empty on a quiet machine.
//   networks[].network
//                   what was measured of it, as a trial of `sweep --json` has it; only if it was
//                   measured
#pragma once

#include <string>

#include "coordinator/results/record.h"

namespace pareto::report {

/// Returns one JSON document in one line.
std::string page_data(const results::RunRecord& run);

}  // namespace pareto::report
