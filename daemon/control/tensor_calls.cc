#include "daemon/control/tensor_calls.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/control/digest_bytes.h"
#include "daemon/control/control_server.h"
#include "daemon/control/tensor_request.h"

namespace pareto::daemon {

namespace v1 = control::v1;

namespace {

/// The most digests in a request: several times what the largest model has.
constexpr std::size_t kMaxDigests = 1 << 16;

}  // namespace

Expected<> list_missing_tensors(TensorStore& store, const grpc::ByteBuffer& request,
                                grpc::ByteBuffer& reply) {
  grpc::Slice bytes;
  if (request.Length() > kMaxDigests * kDigestRecordBytes) {
    return fail(ErrorCode::kExhausted, "asked for more than {} digests at once", kMaxDigests);
  }
  if (request.Length() > 0 && !request.DumpToSingleSlice(&bytes).ok()) {
    return fail(ErrorCode::kCorrupt, "the request cannot be read");
  }
  PARETO_ASSIGN(const std::vector<Digest> asked,
                digests_from({reinterpret_cast<const char*>(bytes.begin()), bytes.size()}));
  v1::MissingTensorsReply absent;
  for (const Digest& digest : store.missing(asked))
    absent.add_digests(control::digest_bytes(digest));
  const grpc::Slice answered(absent.SerializeAsString());
  reply = grpc::ByteBuffer(&answered, 1);
  return {};
}

Expected<> store_tensors(TensorStore& store, const std::function<Expected<>()>& admitted,
                         grpc::ServerReader<v1::TensorChunk>& reader, v1::PutTensorsReply& reply) {
  std::unique_ptr<TensorUpload> upload;
  v1::TensorChunk chunk;
  while (reader.Read(&chunk)) {
    if (chunk.data().size() > kMaxChunkBytes) {
      return fail(ErrorCode::kInvalidArgument, "a chunk of {} bytes, the limit is {}",
                  chunk.data().size(), kMaxChunkBytes);
    }
    if (!chunk.digest().empty()) {
      if (upload) {
        return fail(ErrorCode::kInvalidArgument, "a tensor begins before the last one is complete");
      }
      PARETO_TRY(admitted());
      PARETO_ASSIGN(const Digest digest, control::digest_from(chunk.digest()));
      PARETO_ASSIGN(TensorFileHeader header,
                    with_context(header_from(chunk), "tensor {}", digest.hex()));
      PARETO_ASSIGN(upload, store.begin(digest, std::move(header)));
    } else if (!upload) {
      return fail(ErrorCode::kInvalidArgument, "a chunk that belongs to no tensor");
    }
    PARETO_TRY(upload->append(std::as_bytes(std::span(chunk.data()))));
    reply.set_bytes(reply.bytes() + chunk.data().size());
    if (!upload->complete()) continue;
    PARETO_TRY(upload->finish());
    upload.reset();
    reply.set_tensors(reply.tensors() + 1);
  }
  if (upload) return fail(ErrorCode::kInvalidArgument, "the last tensor is not complete");
  return {};
}

}  // namespace pareto::daemon
