// Any bytes as a plan of faults: refused, or one whose moments come in order.
#include <cstdint>
#include <cstdlib>

#include "netem/fault_plan.h"
#include "tests/fuzz/memory_file.h"

namespace pareto::netem {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int kMostMoments = 1000;
  const fuzz::MemoryFile file(data, size);
  auto plan = read_fault_plan(file.path());
  if (!plan) return 0;
  if (plan->faults.empty()) std::abort();
  auto timeline = FaultTimeline::create(*std::move(plan), {"pi-1", "pi-2"}, {"pi-1 - pi-2"});
  if (!timeline) return 0;
  Nanoseconds last{};
  for (int i = 0; i < kMostMoments; ++i) {
    const auto moment = timeline->next();
    if (!moment) return 0;
    if (moment->at < last) std::abort();
    last = moment->at;
  }
  return 0;
}

}  // namespace pareto::netem
