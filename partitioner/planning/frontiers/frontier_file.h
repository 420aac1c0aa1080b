// Frontiers as files: a cut that somebody writes down by modules or operators. Format:
// partitioner/planning/frontiers/FORMAT.md.
//
//   file ──read_frontier──▶ FrontierFile ──cut_of──▶ Cut
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plan/operator_ranges.h"
#include "partitioner/model/graph/named_cuts.h"

namespace pareto::planning {

struct FrontierFile {
  std::vector<std::string> modules;  ///< paths of modules that lie before the cut, with their needs
  plan::OperatorRanges operators;    ///< operators that lie before it, with their needs
  plan::OperatorRanges ranges;       ///< all operators before it, in place of the two
  bool operator==(const FrontierFile&) const = default;
};

/// Reads the file of a frontier. Fails: kNotFound, kPermission, kInvalidArgument with file, line
/// and nearest key.
Expected<FrontierFile> read_frontier(const std::filesystem::path& path);
/// Parses a file's text. `name` stands for the file in errors. Fails: kInvalidArgument.
Expected<FrontierFile> parse_frontier(const std::string& text, const std::string& name);

/// Returns the cut of a model. Fails: kNotFound (a module, with the nearest), kInvalidArgument
/// naming the value and the operator that forbid it.
Expected<model::Cut> cut_of(const FrontierFile& file, const model::Graph& graph,
                            const std::vector<model::SplitPoint>& points);

}  // namespace pareto::planning
