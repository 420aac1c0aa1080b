// Any bytes as a test bed: refused, or one that can be made.
#include <cstdint>
#include <cstdlib>

#include "netem/testbed.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using pareto::netem::Testbed;
  const pareto::fuzz::MemoryFile file(data, size);
  const auto bed = pareto::netem::read_testbed(file.path());
  if (!bed) return 0;
  const std::size_t devices = bed->devices.size();
  const bool chain = bed->topology == pareto::netem::Topology::kChain;
  if (devices == 0 || devices > Testbed::kMaxDevices) std::abort();
  if (bed->links.size() != (chain ? devices - 1 : devices)) std::abort();
  (void)bed->common_network();
  return 0;
}
