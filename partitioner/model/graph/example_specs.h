// Concludes from runs at several batches what the values of a graph are at any batch.
//
//   ExampleRuns at two batches ──add_specs──▶ specs in the Graph
//   a third run ──check_specs──▶ reasons why values cannot cross
#pragma once

#include <string>
#include <vector>

#include "partitioner/model/graph/example_runs.h"
#include "partitioner/model/graph/graph.h"

namespace pareto::model {

/// Puts specs into the graph; returns for each value why it cannot cross, or "".
std::vector<std::string> add_specs(const std::vector<ExampleRun>& runs, Graph& graph);
/// Returns whether each operator treats each sample of a batch alike, so that sizes grow with the
/// batch: layers of common networks, with the batch in the first dimension.
bool treats_samples_alike(const Graph& graph);
/// Adds reasons of values that are not what their specs say at the batch of that run.
void check_specs(const ExampleRun& run, const Graph& graph, std::vector<std::string>& reasons);
/// Adds to reasons of sizes the operator that first makes such a size.
void name_makers(const Graph& graph, std::vector<std::string>& reasons);

}  // namespace pareto::model
