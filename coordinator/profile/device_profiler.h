// Measures the times of a model on each device, shard by shard, as stages of real pipelines.
//
//   cuts ──▶ for each: the stage before it, the one after it, and a yardstick, in turns, on every
//       device ──▶ DeviceProfiles
//
// The yardstick is the whole model, or the longest stage that a device has room for. A shard's time
// is its share of the yardstick's at the same moment. A device that slows down for a while thus
// shifts no shard against the others. Lone requests are measured one stage after the other. Each
// stage waits while the other one of its pipeline works. Busy stages are measured on all devices at
// once, because devices that share a machine share its memory. Parts that a device has no room for
// are left out, and noted.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/transport_set.h"
#include "coordinator/load/lost_request.h"
#include "coordinator/profile/link_prober.h"
#include "core/base/error.h"
#include "core/plan/device_profile.h"
#include "core/plan/stage_settings.h"
#include "core/tensor/value.h"

namespace pareto::profile {

/// Settings by the names of devices.
using DeviceSettings = std::map<std::string, plan::StageSettings>;

struct ProfileRequest {
  std::string model;
  std::string model_digest;  ///< 64 hex digits
  std::int64_t operators = 0;
  std::vector<std::int64_t> cuts;  ///< positions strictly inside the model, ascending
  control::ShardSettings settings;
  DeviceSettings own_settings{};  ///< settings of devices that differ from `settings`
  std::uint64_t seed = 1;         ///< seed of the order in which cuts are measured

  /// Returns the settings that shards on a device are loaded with.
  control::ShardSettings settings_of(const cluster::DaemonClient& device) const;
};

/// Returns "batch 8, 2 threads, bf16; pi-2: fp32": what profiles are of next to model and device.
/// Threads and engine are left out where each device chooses. `own`: settings of devices that have
/// others.
std::string settings_text(const control::ShardSettings& settings, const DeviceSettings& own = {});

/// Returns the key that tells one profile from another: device, processor, what its shards run on,
/// cores, LibTorch, model, settings, memory limit, how many share its machine. Profiles with equal
/// keys may be merged.
std::string profile_key(const plan::DeviceProfile& profile);
/// Returns the key of the profile that the request would make of a device of the cluster.
std::string profile_key(const cluster::Cluster& cluster, const cluster::DaemonClient& device,
                        const ProfileRequest& request);
/// Returns whether a profile has all that the request asks for. It may say of a part that it was
/// too large.
bool is_enough(const plan::DeviceProfile& profile, const ProfileRequest& request);

/// The parts that stages are measured with. All outlive the profiler's calls.
struct ProfileBench {
  const cluster::Cluster& cluster;
  cluster::ShardPool& pool;
  cluster::TransportSet& transports;
  /// Links as the network is now: their time belongs to no stage. Each device is measured over the
  /// first link that it has to and from the coordinator.
  const std::vector<planning::ProbedTransport>& probed;
  Value request;  ///< request of the whole model
  /// The longest that a request may take while nothing is known of its stage, and the least of
  /// later limits.
  std::chrono::milliseconds timeout = load::kRequestTimeout;
};

/// Times that each cut is measured at least, unless that takes long.
inline constexpr int kProfilePasses = 2;

/// The progress of profiling: in the pass at hand, because nobody knows how many will follow.
struct ProfileProgress {
  std::size_t done = 0;   ///< cuts of this pass
  std::size_t total = 0;  ///< stays the same within a pass
  int pass = 1;
  /// True if the cuts of this pass are timed again, because times of earlier passes differed.
  bool again = false;
};

/// Measures what `known`, one for each device of the cluster, lacks of the requested cuts, and
/// returns both together. `progress`: as each pass begins, and after each cut. `stop` ends it early
/// with what there is, once each cut has been measured. Fails: as devices and links do; kExhausted
/// naming a device that has no room for any side of any cut; kClosed where it was stopped before.
Expected<std::vector<plan::DeviceProfile>> profile_devices(
    const ProfileBench& bench, const ProfileRequest& request,
    const std::vector<std::optional<plan::DeviceProfile>>& known, const std::atomic<bool>& stop,
    const std::function<void(const ProfileProgress&)>& progress);

}  // namespace pareto::profile
