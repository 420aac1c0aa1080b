// What `profile` measured, for people and for programs.
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

namespace pareto::client {

/// Under one choice of settings.
struct ProfiledSettings {
  control::ShardSettings settings;
  std::vector<plan::DeviceProfile> devices;
  planning::CostInputs inputs;  ///< of those devices, at the report's positions
  std::vector<planning::ProfiledOperator> operators;  ///< empty: not asked for
  /// At its batch; without positions: not asked for, or told of that batch before.
  planning::ProbedCodecs codecs;
  bool measured_now = false;
};

struct ProfileReport {
  std::string model;
  std::vector<std::string> transports;     ///< of which each link has one
  std::vector<std::int64_t> positions;     ///< operators before each: 0, the cuts, all
  std::vector<std::string> cuts;           ///< names of the inner positions
  std::vector<ProfiledSettings> settings;  ///< one at least
  std::vector<planning::ProbedTransport> links;

  /// "the end" behind all operators. `position`: one of `positions`, not the first.
  std::string cut_at(std::int64_t position) const {
    const auto place = std::ranges::find(positions, position) - positions.begin();
    return place == std::ssize(positions) - 1 ? "the end"
                                              : cuts[static_cast<std::size_t>(place) - 1];
  }
  /// Of a link: a device, by the order of them, or behind them the coordinator.
  std::string end_at(std::size_t end) const {
    const auto& devices = settings.front().devices;
    return end == devices.size() ? "coordinator" : devices[end].device;
  }
};

/// For each choice of settings its cuts, segments, operators and codecs; then the links.
std::string write_profile_table(const ProfileReport& report, const ReportStyle& style);
/// One document; its schema: tests/golden/profile.schema.json.
std::string write_profile_json(const ProfileReport& report);

}  // namespace pareto::client
