// Writes what `profile` measured, for people and for programs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "client/report/report_writer.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/profile/codec_prober.h"
#include "coordinator/profile/link_prober.h"
#include "core/plan/device_profile.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/inputs/profiled_parts.h"

namespace pareto::report {

/// The profile under one choice of settings.
struct ProfiledSettings {
  control::ShardSettings settings;
  std::vector<plan::DeviceProfile> devices;
  planning::CostInputs inputs;  ///< inputs for those devices, at the report's positions
  std::vector<planning::ProfiledOperator> operators;  ///< empty: not asked for
  /// Codecs at its batch; without positions: not asked for, or reported for that batch before.
  planning::ProbedCodecs codecs;
  bool measured_now = false;
};

struct ProfileReport {
  std::string model;
  std::vector<std::string> transports;     ///< transports of the links; each link has one of them
  std::vector<std::int64_t> positions;     ///< operators before each: 0, the cuts, all
  std::vector<std::string> cuts;           ///< names of the inner positions
  std::vector<ProfiledSettings> settings;  ///< one at least
  std::vector<planning::ProbedTransport> links;

  /// Returns "the end" behind all operators. `position`: one of `positions`, not the first.
  std::string cut_at(std::int64_t position) const {
    const auto place = std::ranges::find(positions, position) - positions.begin();
    return place == std::ssize(positions) - 1 ? "the end"
                                              : cuts[static_cast<std::size_t>(place) - 1];
  }
  /// Names an end of a link: a device by its number, or the coordinator, whose number follows
  /// theirs.
  std::string end_at(std::size_t end) const {
    const auto& devices = settings.front().devices;
    return end == devices.size() ? "coordinator" : devices[end].device;
  }
};

/// Writes the cuts, segments, operators and codecs for each choice of settings; then the links.
std::string write_profile_table(const ProfileReport& report, const ReportStyle& style);
/// Writes one document; its schema: tests/golden/profile.schema.json.
std::string write_profile_json(const ProfileReport& report);

}  // namespace pareto::report
