// Shards loaded on devices, each once. Every deployment that runs a shard shares it: the tcp and
// the grpc pipeline of one split, and all rounds of a sweep.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/workload.h"
#include "core/base/error.h"
#include "core/plan/operator_ranges.h"

namespace pareto::cluster {

/// A shard that a device holds ready.
struct ResidentShard {
  std::int64_t begin = 0;  ///< operators [begin, end) in the plan's order
  std::int64_t end = 0;
  control::ShardReport loaded;
  std::uint64_t weight_bytes = 0;
  std::uint64_t input_bytes = 0;  ///< tensors of one request at the batch it was loaded for
  std::uint64_t output_bytes = 0;
  std::vector<plan::BoundaryValue> inputs{};  ///< inputs that a request is made of, in order
};
/// A lease of a loaded shard: the shard stays loaded as long as somebody holds one.
using ShardLease = std::shared_ptr<const ResidentShard>;

/// Least recently used shards that nobody holds are unloaded where a device has no room for the
/// next one. A weight is sent to a device at most once, unless the device's store dropped it
/// meanwhile.
///
/// Threads: any; shards of different devices load at the same time, those of one device one after
/// the other.
class ShardPool {
 public:
  /// The workload and the devices must outlive the pool.
  explicit ShardPool(Workload& workload) : workload_(workload) {}
  /// Unloads everything (devices that do not answer are left alone).
  ~ShardPool();
  ShardPool(const ShardPool&) = delete;
  ShardPool& operator=(const ShardPool&) = delete;

  /// The choices for a device whose memory is full of other shards.
  enum class WhenFull {
    kMakeRoom,  ///< unload those that nobody holds
    kRefuse,    ///< fail: loading ahead must not undo itself
  };

  /// Takes a shard that the device has, or loads it there. Fails: kExhausted (no room, although
  /// everything idle was unloaded: a deployment may be closed and the call repeated); and as the
  /// device says.
  Expected<ShardLease> acquire(DaemonClient& device, const plan::ShardOperators& operators,
                               const control::ShardSettings& settings,
                               WhenFull when_full = WhenFull::kMakeRoom);
  /// Acquires operators [begin, end) after all that come before them in the model.
  Expected<ShardLease> acquire(DaemonClient& device, std::int64_t begin, std::int64_t end,
                               const control::ShardSettings& settings,
                               WhenFull when_full = WhenFull::kMakeRoom) {
    return acquire(device, plan::ShardOperators::between(begin, end), settings, when_full);
  }

  /// Unloads all shards that nobody holds (devices that do not answer are left alone).
  void unload_unused();

  /// Drops what is known of a device that is given up, and asks it nothing. No lease of it is in
  /// use.
  void forget(DaemonClient& device);

  /// Returns the memory that any device sets aside to load those operators. Fails: as the workload
  /// does.
  Expected<std::uint64_t> loading_bytes(const plan::ShardOperators& operators, std::int64_t batch);

 private:
  using Key = std::pair<plan::ShardOperators, control::ShardSettings>;
  struct Entry {
    std::shared_ptr<const ResidentShard> shard;
    std::set<Digest> weights;
    std::uint64_t last_used = 0;
  };
  struct Device {
    std::mutex mutex;
    std::map<Key, Entry> entries;
    std::set<Digest> stored;
    std::uint64_t resident_bytes = 0;  ///< bytes of all its shards, those of others too
    std::uint64_t clock = 0;
  };

  Device& state_of(DaemonClient& client);
  static std::uint64_t budget(const DaemonClient& client);
  /// Returns whether a shard was unloaded: nobody held it.
  static bool unload_one(DaemonClient& client, Device& device);
  /// Returns the bytes that a shard would take there.
  static std::uint64_t wanted_bytes(const Device& device, const plan::Shard& shard,
                                    const control::ShardSettings& settings);
  Expected<> send_weights(DaemonClient& client, Device& device, const plan::Shard& shard);
  Expected<control::ShardReport> load(DaemonClient& client, Device& device,
                                      const plan::Shard& shard,
                                      const control::ShardSettings& settings, WhenFull when_full);

  Workload& workload_;
  std::mutex mutex_;
  std::map<DaemonClient*, std::unique_ptr<Device>> devices_;
};

}  // namespace pareto::cluster
