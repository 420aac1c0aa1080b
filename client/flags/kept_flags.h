// The flags of a sweep as its run keeps them (RunRecord::options_json), so that --resume can go on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/flags/device_flags.h"
#include "client/flags/model_flags.h"
#include "coordinator/cluster/network.h"
#include "coordinator/results/record.h"
#include "coordinator/sweep/sweep.h"
#include "core/base/error.h"
#include "partitioner/planning/objective/objective.h"

namespace pareto::client {

struct KeptFlags {
  sweep::SweepOptions options;
  ModelFlags model;
  DeviceFlags devices;
  std::string report{};  ///< the file of the report, or "none"; empty: the default
  /// Conditions of the options that are files, as they were when the run began. The run
  /// goes on under them, whatever became of the files.
  std::vector<cluster::NamedCondition> conditions;
  /// The latency that plans should stay within, for the front and the page; no value means not
  /// said.
  std::optional<double> max_latency_ms{};
  /// Figures of devices that the inventory says, by the device's name.
  std::map<std::string, planning::DeviceFigures> figures{};
  /// Objectives that --objectives names; empty means not said.
  std::vector<std::string> objectives{};
  /// The DeviceFlags::testbed_content when the run began; no value means that a run of an earlier
  /// version does not say.
  std::optional<std::string> testbed_content;
};

/// Files are kept by their absolute paths: a run may be resumed from another folder.
std::string to_json(const KeptFlags& flags);

/// Reads the flags that a run was begun with. Fails: kCorrupt; as read_conditions for runs of
/// versions that did not keep what conditions were.
Expected<KeptFlags> kept_flags(const results::RunRecord& run);

}  // namespace pareto::client
