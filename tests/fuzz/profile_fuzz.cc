// Any bytes as the profile of a device: refused, or written and read again as it was.
#include <cstdint>
#include <cstdlib>

#include "core/plan/device_profile.h"
#include "tests/fuzz/text.h"

namespace pareto::plan {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto profile = device_profile_from_json(fuzz::text_of(data, size));
  if (!profile) return 0;
  if (device_profile_from_json(to_json(*profile)) != *profile) std::abort();
  for (const ShardTime& shard : profile->shards) {
    if (profile->find_shard(shard.begin, shard.end) != &shard) std::abort();
  }
  return 0;
}

}  // namespace pareto::plan
