#include "coordinator/cluster/shard_pool.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/text.h"

namespace pareto::cluster {
namespace {

// What a loaded shard takes, against its weights: they stay in the store's page cache, and engines
// keep a packed copy. Shards of the same settings share both.
constexpr std::uint64_t kMemoryPerWeightByte = 2;
// Of a device that states no limit: other programs run there, and two local daemons share one
// memory.
constexpr std::uint64_t kShareOfMemory = 4;

Expected<std::uint64_t> tensor_bytes_of(const std::vector<plan::BoundaryValue>& values,
                                        std::int64_t batch) {
  std::uint64_t total = 0;
  for (const plan::BoundaryValue& value : values) {
    PARETO_ASSIGN(const std::uint64_t bytes, value.spec.size_bytes(batch));
    total += bytes;
  }
  return total;
}

}  // namespace

ShardPool::~ShardPool() {
  for (auto& [client, device] : devices_) {
    for (auto& [key, entry] : device->entries) {
      if (!client->unload_shard(entry.shard->loaded.handle)) break;
    }
  }
}

void ShardPool::forget(DaemonClient& client) {
  const std::lock_guard lock(mutex_);
  devices_.erase(&client);
}

void ShardPool::unload_unused() {
  std::vector<std::pair<DaemonClient*, Device*>> devices;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [client, device] : devices_) devices.emplace_back(client, device.get());
  }
  for (const auto& [client, device] : devices) {
    const std::lock_guard lock(device->mutex);
    // A device that does not answer counts as empty.
    while (unload_one(*client, *device) && device->resident_bytes > 0) {
    }
  }
}

ShardPool::Device& ShardPool::state_of(DaemonClient& client) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Device>& device = devices_[&client];
  if (!device) device = std::make_unique<Device>();
  return *device;
}

std::uint64_t ShardPool::budget(const DaemonClient& client) {
  const DeviceInfo& info = client.info();
  if (info.memory_limit_bytes > 0) return info.memory_limit_bytes;
  return info.memory_bytes / kShareOfMemory;
}

bool ShardPool::unload_one(DaemonClient& client, Device& device) {
  auto oldest = device.entries.end();
  for (auto it = device.entries.begin(); it != device.entries.end(); ++it) {
    // Only the pool holds it. Nobody can take it meanwhile: leases are given out under the device's
    // mutex.
    if (it->second.shard.use_count() > 1) continue;
    if (oldest == device.entries.end() || it->second.last_used < oldest->second.last_used) {
      oldest = it;
    }
  }
  if (oldest == device.entries.end()) return false;
  // A device that does not answer says so when it is asked to load the next one.
  device.resident_bytes = client.unload_shard(oldest->second.shard->loaded.handle).value_or(0);
  device.entries.erase(oldest);
  return true;
}

std::uint64_t ShardPool::wanted_bytes(const Device& device, const plan::Shard& shard,
                                      const control::ShardSettings& settings) {
  const auto is_held = [&](const plan::WeightRef& weight) {
    return std::ranges::any_of(device.entries, [&](const auto& entry) {
      return entry.first.second == settings && entry.second.weights.contains(weight.digest);
    });
  };
  std::uint64_t bytes = 0;
  for (const plan::WeightRef& weight : shard.weights) {
    if (!is_held(weight)) bytes += weight.size_bytes();
  }
  return kMemoryPerWeightByte * bytes;
}

Expected<> ShardPool::send_weights(DaemonClient& client, Device& device, const plan::Shard& shard) {
  std::vector<Digest> unknown;
  std::set<Digest> asked;
  for (const plan::WeightRef& weight : shard.weights) {
    if (!device.stored.contains(weight.digest) && asked.insert(weight.digest).second) {
      unknown.push_back(weight.digest);
    }
  }
  if (unknown.empty()) return {};
  PARETO_ASSIGN(const std::vector<Digest> missing, client.missing_tensors(unknown));
  std::vector<NamedTensor> tensors;
  for (const Digest& digest : missing) {
    if (!asked.contains(digest)) {
      return fail(ErrorCode::kCorrupt, "{}: misses a tensor that it was not asked about",
                  client.config().name);
    }
    PARETO_ASSIGN(Tensor tensor, workload_.weight(digest));
    tensors.push_back({digest, std::move(tensor)});
  }
  if (!tensors.empty()) PARETO_TRY(client.put_tensors(tensors));
  device.stored.insert(unknown.begin(), unknown.end());
  return {};
}

Expected<control::ShardReport> ShardPool::load(DaemonClient& client, Device& device,
                                               const plan::Shard& shard,
                                               const control::ShardSettings& settings,
                                               WhenFull when_full) {
  const bool make_room = when_full == WhenFull::kMakeRoom;
  // The first shard is always tried: whether it fits is for the device to say.
  while (!device.entries.empty()) {
    const std::uint64_t wanted = wanted_bytes(device, shard, settings);
    if (device.resident_bytes + wanted <= budget(client)) break;
    if (make_room && unload_one(client, device)) continue;
    return fail(ErrorCode::kExhausted, "{}: {} of loaded shards leave no room for another {}",
                client.config().name, format_bytes(device.resident_bytes), format_bytes(wanted));
  }
  PARETO_TRY(send_weights(client, device, shard));
  auto loaded = client.load_shard(shard, settings);
  if (!loaded && loaded.error().code == ErrorCode::kNotFound) {
    // The store is bounded and may have dropped what was sent long ago.
    for (const plan::WeightRef& weight : shard.weights) device.stored.erase(weight.digest);
    PARETO_TRY(send_weights(client, device, shard));
    loaded = client.load_shard(shard, settings);
  }
  while (!loaded && loaded.error().code == ErrorCode::kExhausted && make_room &&
         unload_one(client, device)) {
    loaded = client.load_shard(shard, settings);
  }
  return loaded;
}

Expected<ShardLease> ShardPool::acquire(DaemonClient& client, const plan::ShardOperators& operators,
                                        const control::ShardSettings& settings,
                                        WhenFull when_full) {
  Device& device = state_of(client);
  const std::lock_guard lock(device.mutex);
  const Key key{operators, settings};
  if (const auto found = device.entries.find(key); found != device.entries.end()) {
    found->second.last_used = ++device.clock;
    return found->second.shard;
  }
  PARETO_ASSIGN(const plan::Shard shard, workload_.shard(operators));
  ResidentShard resident{shard.begin, shard.end, {}, shard.weight_bytes(), 0, 0};
  PARETO_ASSIGN(resident.input_bytes, tensor_bytes_of(shard.inputs, settings.batch));
  PARETO_ASSIGN(resident.output_bytes, tensor_bytes_of(shard.outputs, settings.batch));
  resident.inputs = shard.inputs;
  PARETO_ASSIGN(resident.loaded, load(client, device, shard, settings, when_full));
  device.resident_bytes = resident.loaded.shards_bytes;
  auto lease = std::make_shared<const ResidentShard>(std::move(resident));
  std::set<Digest> weights;
  for (const plan::WeightRef& weight : shard.weights) weights.insert(weight.digest);
  device.entries.emplace(key, Entry{lease, std::move(weights), ++device.clock});
  return lease;
}

Expected<std::uint64_t> ShardPool::loading_bytes(const plan::ShardOperators& operators,
                                                 std::int64_t batch) {
  PARETO_ASSIGN(const plan::Shard shard, workload_.shard(operators));
  return plan::loading_bytes(shard, batch);
}

}  // namespace pareto::cluster
