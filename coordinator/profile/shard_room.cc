#include "coordinator/profile/shard_room.h"

#include <limits>
#include <utility>

#include "core/base/text.h"

namespace pareto::profile {

void ShardRoom::take_over(const plan::DeviceProfile& known) {
  too_large_.insert(known.too_large.begin(), known.too_large.end());
}

Expected<cluster::ShardLease> ShardRoom::load_beside(const plan::OperatorRange& range) {
  auto lease = bench_.pool.acquire(device_, range.begin, range.end, request_.settings_of(device_));
  if (!lease && lease.error().code == ErrorCode::kExhausted) return cluster::ShardLease();
  return with_context(std::move(lease), "operators {} to {} on {}", range.begin, range.end,
                      device_.config().name);
}

Expected<cluster::ShardLease> ShardRoom::load(const plan::OperatorRange& range) {
  if (too_large_.contains(range)) return cluster::ShardLease();
  PARETO_ASSIGN(cluster::ShardLease lease, load_beside(range));
  if (!lease && !open_.empty()) {
    open_.clear();
    PARETO_ASSIGN(lease, load_beside(range));
  }
  if (!lease) too_large_.insert(range);
  return lease;
}

Expected<StageMeter*> ShardRoom::open(const plan::OperatorRange& range) {
  PARETO_ASSIGN(
      auto meter,
      StageMeter::open(device_.config().name, range.begin, range.end, request_.settings_of(device_),
                       transport_, bench_.cluster, bench_.pool, bench_.transports, bench_.timeout));
  return (open_[range] = std::move(meter)).get();
}

StageMeter* ShardRoom::find(const plan::OperatorRange& range) const {
  const auto opened = open_.find(range);
  return opened == open_.end() ? nullptr : opened->second.get();
}

void ShardRoom::close_all_but(const plan::OperatorRange& range) {
  std::erase_if(open_, [&](const auto& opened) { return opened.first != range; });
}

Expected<> ShardRoom::no_room() const {
  plan::OperatorRange smallest;
  std::uint64_t needed = std::numeric_limits<std::uint64_t>::max();
  for (const plan::OperatorRange& range : too_large_) {
    PARETO_ASSIGN(const std::uint64_t bytes,
                  bench_.pool.loading_bytes(plan::ShardOperators::between(range.begin, range.end),
                                            request_.settings.batch));
    if (bytes >= needed) continue;
    smallest = range;
    needed = bytes;
  }
  const cluster::DeviceInfo& info = device_.info();
  const bool limited = info.memory_limit_bytes > 0;
  return fail(
      ErrorCode::kExhausted,
      "{} has no room for any part of {} that was to be measured: the smallest, operators {} to "
      "{}, needs about {}, and {}; {}, cut the model into smaller parts (--splits, "
      "--measured-cuts) or "
      "leave the device out",
      device_.config().name, request_.model, smallest.begin, smallest.end, format_bytes(needed),
      limited ? "its memory limit is " + format_bytes(info.memory_limit_bytes)
              : "of its " + format_bytes(info.memory_bytes) + " of memory less is free",
      limited ? "raise --memory-limit of its paretod" : "end what else runs there");
}

}  // namespace pareto::profile
