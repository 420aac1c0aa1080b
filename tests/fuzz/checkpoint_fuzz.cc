// Any bytes as a checkpoint: refused, or tensors that lie within its storages.
//
//   input = a file of the older form, or what LibTorch's reader takes out of a zip archive: 'Z',
//           2 bytes how long the pickle is, the pickle, the bytes of storage "0"
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "partitioner/model/zoo/state_dict.h"
#include "tests/fuzz/memory_file.h"

namespace pareto::model {
namespace {

Expected<zoo::Entries> unzipped(std::span<const std::uint8_t> input) {
  std::uint16_t size = 0;
  std::memcpy(&size, input.data(), sizeof size);
  input = input.subspan(sizeof size);
  const auto pickle = input.first(std::min<std::size_t>(size, input.size()));
  const auto rest = std::as_bytes(input.subspan(pickle.size()));
  // A copy, so that sanitizers see what is read behind it.
  const auto storage = std::make_shared<std::vector<std::byte>>(rest.begin(), rest.end());
  std::string_view text(reinterpret_cast<const char*>(pickle.data()), pickle.size());
  PARETO_ASSIGN(const zoo::PickleRef root, zoo::read_pickle(text));
  return zoo::entries_of(root, [&](const zoo::PickleStorage& of) -> Expected<zoo::StorageBytes> {
    if (of.key != "0") return fail(ErrorCode::kCorrupt, "has no storage {}", of.key);
    return zoo::StorageBytes{storage->data(), storage->size(), storage};
  });
}

/// Sanitizers see whether the first and the last byte of each are there.
void touch(const zoo::Entries& entries) {
  int sum = 0;
  for (const auto& [name, tensor] : entries) {
    const auto bytes = tensor.bytes();
    if (bytes.empty()) continue;
    sum += std::to_integer<int>(bytes.front()) + std::to_integer<int>(bytes.back());
  }
  if (sum < 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size >= 3 && data[0] == 'Z') {
    if (const auto entries = unzipped(std::span(data, size).subspan(1))) touch(*entries);
    return 0;
  }
  const fuzz::MemoryFile file(data, size);
  if (const auto entries = zoo::read_legacy_checkpoint(file.path())) touch(*entries);
  return 0;
}

}  // namespace pareto::model
