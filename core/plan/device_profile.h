// Times of a model on a device, measured once and kept. Plans are predicted from them. A document;
// format: core/plan/FORMAT.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/plan/operator_ranges.h"
#include "core/plan/stage_settings.h"

namespace pareto::plan {

inline constexpr std::size_t kMostJitterFactors = 64;

/// Operators [begin, end) as one shard, in the engine that the device chose for it.
struct ShardTime {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  Nanoseconds alone{};  ///< computing a lone request of the profile's batch: the stage has slept
  /// Time from one request to the next when they follow each other and all devices are at work,
  /// without the processor time of links.
  Nanoseconds busy{};
  std::uint64_t memory_bytes = 0;  ///< bytes that loading it added to the daemon
  std::uint64_t output_bytes = 0;  ///< tensors of what it makes of a request; 0: not known
  bool operator==(const ShardTime&) const = default;
};

/// The profile of one model on one device under one choice of settings and one memory limit, with
/// `machine_shared_by` devices at work on its machine. Another of these is another profile.
struct DeviceProfile {
  std::string device;  ///< a name from the inventory
  std::string cpu;
  std::string torch_version;
  std::string model;         ///< a built-in name, or the path of a TorchScript file
  std::string model_digest;  ///< 64 hex digits
  std::string engine = "auto";
  std::string precision = "fp32";
  double max_error = 0;  ///< largest allowed error; see Plan::max_error
  int threads = 1;
  std::int64_t batch = 1;  ///< samples of a message
  /// Bytes that shards might take, as the device said; 0: what was free.
  std::uint64_t memory_limit_bytes = 0;
  int machine_shared_by = 1;  ///< devices that were at work on its machine, itself included
  std::string measured;       ///< ISO 8601, UTC

  Nanoseconds overhead{};  ///< time of a stage for a lone message, beyond its shard and its links
  std::vector<Nanoseconds>
      operators;  ///< time of each operator of the model, one by one in the plain engine
  /// Times of shards, by begin, then end, none twice; one at least that begins or ends the model,
  /// or is all of it.
  std::vector<ShardTime> shards;
  /// Ranges that the device had no room for, nothing else being loaded: in the same order, none
  /// among `shards`.
  std::vector<OperatorRange> too_large;
  /// Times of consecutive requests under load, as multiples of their median, in the order measured.
  /// They are those of the yardstick: the whole model, or the largest part that has room. At most
  /// kMostJitterFactors; empty if unknown.
  std::vector<double> jitter{};
  std::string runs_on{};  ///< "cpu", "cuda:0"; empty: not known
  int cores = 0;          ///< cores that its daemon might use; 0: not known
  /// Share of its machine's processors that others used while it was measured; no value means that
  /// it is not known.
  std::optional<double> others_share{};
  std::string schedule{kSequential};  ///< see StageSettings::schedule

  /// Returns the time of operators [begin, end) as one shard; null: not measured.
  const ShardTime* find_shard(std::int64_t begin, std::int64_t end) const;
  /// Returns the first of `too_large` that a shard of operators [begin, end) would hold; null:
  /// none, there may be room for it.
  const OperatorRange* no_room_for(std::int64_t begin, std::int64_t end) const;
  bool operator==(const DeviceProfile&) const = default;
};

std::string to_json(const DeviceProfile& profile);
/// Checks ranges, order and that there is a shard to predict from. Fails: kInvalidArgument.
Expected<DeviceProfile> device_profile_from_json(const std::string& json);

}  // namespace pareto::plan
