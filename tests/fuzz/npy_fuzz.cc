// Any bytes as a .npy file: refused, or a tensor that is as large as the file, whole or row by row.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "core/tensor/npy.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const pareto::fuzz::MemoryFile file(data, size);
  const auto tensor = pareto::read_npy(file.path());
  const auto rows = pareto::NpyFile::open(file.path());
  if (tensor.has_value() != rows.has_value()) std::abort();
  if (!tensor) return 0;
  if (tensor->size_bytes() > size || !pareto::check_npy_type(tensor->dtype())) std::abort();
  if (rows->dtype() != tensor->dtype() || rows->shape() != tensor->shape()) std::abort();
  if (tensor->shape().empty() || tensor->shape()[0] == 0) return 0;
  const auto last = rows->row(tensor->shape()[0] - 1);
  if (!last || !std::ranges::equal(last->bytes(), tensor->bytes().last(last->size_bytes()))) {
    std::abort();
  }
  return 0;
}
