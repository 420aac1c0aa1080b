// The flags of a sweep as its run keeps them (RunRecord::options_json), so that --resume can go on.
#pragma once

#include <string>
#include <vector>

#include "client/cluster/network.h"
#include "client/commands/flags.h"
#include "client/experiment/sweep.h"
#include "client/results/record.h"
#include "core/base/error.h"

namespace pareto::client {

struct KeptFlags {
  SweepOptions options;
  ModelFlags model;
  DeviceFlags devices;
};

/// Files are kept by their absolute paths: a run may be resumed from another folder. `conditions`: those of the options that are files, of
/// which the run keeps what they said.
std::string to_json(const KeptFlags& flags, const std::vector<NamedCondition>& conditions);

/// Fails: kCorrupt.
Expected<KeptFlags> kept_flags(const RunRecord& run);

/// Of a file, which need not be there; "" stays "".
std::string absolute_path(const std::string& path);

}  // namespace pareto::client
