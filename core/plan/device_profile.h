// What a model takes on a device, measured once and kept: what plans are predicted from. A document; format: core/plan/FORMAT.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto {

/// Operators [begin, end) as one shard, in the engine that the device chose for it.
struct ShardTime {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  Nanoseconds alone{};  ///< computing a lone request of the profile's batch: the stage has slept
  /// From one request to the next when they follow each other and all devices are at work, without the processor time of links.
  Nanoseconds busy{};
  std::uint64_t memory_bytes = 0;  ///< what loading it added to the daemon
  bool operator==(const ShardTime&) const = default;
};

/// Of one model on one device under one choice of settings. Another device, model or setting is another profile.
struct DeviceProfile {
  std::string device;  ///< a name from the inventory
  std::string cpu;
  std::string torch_version;
  std::string model;         ///< a built-in name, or the path of a TorchScript file
  std::string model_digest;  ///< 64 hex digits
  std::string engine = "auto";
  std::string precision = "fp32";
  int threads = 1;
  std::int64_t batch = 1;  ///< samples of a message
  std::string measured;    ///< ISO 8601, UTC

  Nanoseconds overhead{};  ///< of a stage for a lone message, beyond its shard and its links
  std::vector<Nanoseconds>
      operators;  ///< of each operator of the model, one by one in the plain engine
  /// By begin, then end, none twice; the whole model [0, operators) among them.
  std::vector<ShardTime> shards;

  bool operator==(const DeviceProfile&) const = default;
};

std::string to_json(const DeviceProfile& profile);
/// Checks ranges, order and that the whole model is there. Fails: kInvalidArgument.
Expected<DeviceProfile> device_profile_from_json(const std::string& json);

}  // namespace pareto
