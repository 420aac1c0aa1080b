// What a model takes on one device, shard by shard, measured by the device itself.
//
//   cuts ──▶ for each: the shard before it and the one after it, each in turns with the whole model ──▶ DeviceProfile
//
// The whole model is the yardstick: a shard's time is its share of the whole's, measured at the same moment, so that a device that slows
// down for a while shifts no shard against the others.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "client/cluster/daemon_client.h"
#include "client/cluster/shard_pool.h"
#include "core/base/error.h"
#include "core/plan/device_profile.h"

namespace pareto::client {

struct ProfileWish {
  std::string model;
  std::string model_digest;  ///< 64 hex digits
  std::int64_t operators = 0;
  std::vector<std::int64_t> cuts;  ///< positions strictly inside the model
  ShardSettings settings;
  std::uint64_t seed = 1;  ///< of the order in which cuts are measured
};

/// What tells one profile from another: device, processor, LibTorch, model, settings. Profiles with equal keys may be merged.
std::string profile_key(const DeviceProfile& profile);
/// That of the profile which the wish would make.
std::string profile_key(const DaemonClient& device, const ProfileWish& wish);
/// The wish's cuts that a profile does not know.
std::vector<std::int64_t> missing_cuts(const DeviceProfile& profile, const ProfileWish& wish);

/// Measures what `known` lacks of the wish's cuts, all of them where it is null, and returns both together. `progress`: after each cut, how
/// many are done of how many. `stop` ends it early with what there is, once the whole model has been measured. Fails: as the device does.
Expected<DeviceProfile> profile_device(
    DaemonClient& device, ShardPool& pool, const ProfileWish& wish, const DeviceProfile* known,
    const std::atomic<bool>& stop, const std::function<void(std::size_t, std::size_t)>& progress);

}  // namespace pareto::client
