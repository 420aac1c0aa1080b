// A traced pipeline as a picture for Perfetto (ui.perfetto.dev) and chrome://tracing: the trace
// event format, JSON.
//
//   coordinator   source, sink, request (from sent to completed)
//   each device   of each stage: receive, compute, send, queue
//   links         of each link: wire (from the end of encode to the last byte read: what waits for
//                 its reader counts)
//
// All on the coordinator's clock, 0 = when the load began. Events of a device are as exact as its
// clock offset: `otherData.clocks` has offset and error of each. What a thread does one after the
// other never overlaps; what may (requests, queues, wires) takes a row more.
#pragma once

#include <string>

#include "coordinator/load/trace.h"

namespace pareto::report {

/// Returns the complete events ("X", microseconds): receive, decode, queue, compute, encode, send
/// and wire, each with `args.request`. `cpu_us` of receive includes decode, and that of send
/// includes encode. A timeline has encode and send of the message before it. So those of the last
/// request are missing, and its wires behind the first stage. Their begin follows from what came
/// before on their thread, which may have woken up later. Arrows follow a request through the
/// pipeline. Requires what trace_pipeline() promises.
std::string chrome_trace(const load::PipelineTrace& trace);

}  // namespace pareto::report
