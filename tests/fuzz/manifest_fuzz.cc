// Any bytes as the manifest of a shard: refused, or a shard that is written and read again as it
// was.
#include <cstdint>
#include <cstdlib>

#include "core/plan/shard.h"
#include "tests/fuzz/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto shard = pareto::plan::shard_from_manifest(pareto::fuzz::text_of(data, size), "");
  if (!shard) return 0;
  const std::string written = manifest_json(*shard);
  const auto again = pareto::plan::shard_from_manifest(written, "");
  if (!again || manifest_json(*again) != written || again->digest() != shard->digest()) {
    std::abort();
  }
  // Sizes of foreign numbers, and values of foreign types.
  for (const std::int64_t batch : {1, 65536}) {
    (void)loading_bytes(*shard, batch);
    (void)boundary_bytes(shard->inputs, batch);
  }
  return 0;
}
