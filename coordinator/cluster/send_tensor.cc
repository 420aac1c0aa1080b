#include "coordinator/cluster/send_tensor.h"

#include <grpcpp/support/sync_stream.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "coordinator/cluster/control_wire.h"

namespace pareto::cluster {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

}  // namespace

bool send_tensor(grpc::ClientWriter<control::v1::TensorChunk>& writer, const NamedTensor& entry,
                 std::atomic<std::uint64_t>& sent_bytes) {
  const std::span<const std::byte> bytes = entry.tensor.bytes();
  std::size_t offset = 0;
  do {
    const std::size_t size = std::min(kChunkBytes, bytes.size() - offset);
    control::v1::TensorChunk chunk;
    if (offset == 0) chunk = first_chunk(entry);
    chunk.set_data(bytes.data() + offset, size);
    if (!writer.Write(chunk)) return false;
    sent_bytes += size;
    offset += size;
  } while (offset < bytes.size());
  return true;
}

}  // namespace pareto::cluster
