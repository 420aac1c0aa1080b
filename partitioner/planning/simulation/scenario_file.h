// Scenarios as people write them: YAML, read whole and validated whole. Format:
// partitioner/planning/simulation/FORMAT.md.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "partitioner/planning/simulation/scenario.h"

namespace pareto::simulation {

/// Pipelines that were measured, for those of a file that name a run and a trial of it.
class MeasuredPipelines {
 public:
  virtual ~MeasuredPipelines() = default;
  /// Finds a pipeline's stages in order, result, batch, sink and recording. The stages' devices
  /// mean nothing. Crossings have the bytes of a message as it was on the wire.
  /// Fails: kNotFound, and as stores do.
  virtual Expected<PipelineClass> find(const std::string& run, const std::string& trial) = 0;
};

/// Files that it names (conditions, traces of arrivals) are looked for in `path`'s folder. Passes
/// check(). Fails: kNotFound, kPermission, kInvalidArgument with file, line and nearest key, all
/// that is wrong together; and as `measured` does.
Expected<Scenario> read_scenario(const std::filesystem::path& path, MeasuredPipelines& measured);
/// Reads a scenario. `name` stands for the file in errors; files are looked for in `folder`; no
/// value means that it may name none.
Expected<Scenario> parse_scenario(const std::string& text, const std::string& name,
                                  const std::optional<std::filesystem::path>& folder,
                                  MeasuredPipelines& measured);

/// Parses "20/s", "90/min", "3600/h": requests a second. Fails: kInvalidArgument.
Expected<double> parse_request_rate(std::string_view text);
/// Parses a trace of arrivals into gaps. Each line has the seconds from the beginning of the trace
/// to a request, ascending. Empty lines and those that begin with # do not count. When the trace
/// starts again, the gap from its last request to its first is the mean of the others.
/// Fails: kInvalidArgument, with the line.
Expected<std::vector<Nanoseconds>> parse_arrival_trace(std::string_view text,
                                                       std::string_view name);

/// The bytes of a message on the wire beyond its tensors and packet headers: its frame's header,
/// timeline and descriptors, about.
inline constexpr std::uint64_t kFrameBytes = 320;

}  // namespace pareto::simulation
