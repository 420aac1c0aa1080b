// Any bytes as a .npy file: refused, or a tensor that is as large as the file.
#include <cstdint>
#include <cstdlib>

#include "client/commands/npy.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const pareto::fuzz::MemoryFile file(data, size);
  const auto tensor = pareto::client::read_npy(file.path());
  if (!tensor) return 0;
  if (tensor->size_bytes() > size || !pareto::client::check_npy_type(tensor->dtype())) std::abort();
  return 0;
}
