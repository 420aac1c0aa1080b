// Any bytes as a stored tensor: refused, or a header that fits what is behind it.
#include <cstdint>
#include <cstdlib>

#include "daemon/stage/tensor_file.h"
#include "tests/fuzz/memory_file.h"

namespace pareto::daemon {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile memory(data, size);
  const auto file = MappedTensorFile::open(memory.path());
  if (!file) return 0;
  const auto& header = (*file)->header();
  const auto written = encode_header(header);
  if (!written || written->size() + (*file)->data().size() != size) std::abort();
  if ((*file)->data().size() != header.size_bytes) std::abort();
  // It can be mapped as the tensor that it says.
  const auto tensor = Tensor::borrow(header.dtype, header.shape, (*file)->data().data(), *file);
  if (!tensor || tensor->size_bytes() != header.size_bytes) std::abort();
  return 0;
}

}  // namespace pareto::daemon
