// Any bytes as a file of operator times: refused, or one that takes a new time and keeps it.
#include <chrono>
#include <cstdint>
#include <cstdlib>

#include "daemon/imitation/steady_pace.h"
#include "tests/fuzz/memory_file.h"

namespace pareto {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(data, size);
  const auto paces = daemon::OperatorPaces::open(file.path());
  if (!paces) return 0;
  runtime::ShardProfile profile;
  profile.operators.push_back({.position = 0,
                               .kind = "aten::relu",
                               .scope = "",
                               .what = "aten::relu(Float[1, 3])",
                               .median = std::chrono::microseconds(7)});
  if (!(*paces)->settle(profile)) std::abort();
  const Nanoseconds settled = profile.operators[0].median;
  if (settled < Nanoseconds(0) || settled > std::chrono::minutes(1)) std::abort();
  const auto again = daemon::OperatorPaces::open(file.path());
  if (!again || !(*again)->know(profile.operators)) std::abort();
  profile.operators[0].median = {};
  if (!(*again)->settle(profile) || profile.operators[0].median != settled) std::abort();
  return 0;
}

}  // namespace pareto
