#include "daemon/control/tensor_request.h"

#include <optional>

#include "core/control/digest_bytes.h"

namespace pareto::daemon {
namespace {

/// Beginning of a digest in a MissingTensorsRequest: the field's tag and length; its bytes follow.
constexpr std::string_view kDigestRecord("\x0a\x20", 2);

}  // namespace

Expected<std::vector<Digest>> digests_from(std::string_view request) {
  std::vector<Digest> digests;
  digests.reserve(request.size() / kDigestRecordBytes);
  for (; !request.empty(); request.remove_prefix(kDigestRecordBytes)) {
    if (!request.starts_with(kDigestRecord) || request.size() < kDigestRecordBytes) {
      return fail(ErrorCode::kInvalidArgument, "not a list of digests of {} bytes",
                  kDigestRecordBytes - kDigestRecord.size());
    }
    PARETO_ASSIGN(const Digest digest,
                  control::digest_from(request.substr(kDigestRecord.size(), 32)));
    digests.push_back(digest);
  }
  return digests;
}

Expected<TensorFileHeader> header_from(const control::v1::TensorChunk& chunk) {
  const auto dtype = chunk.dtype() <= 255
                         ? dtype_from_number(static_cast<std::uint8_t>(chunk.dtype()))
                         : std::nullopt;
  if (!dtype) return fail(ErrorCode::kInvalidArgument, "unknown dtype {}", chunk.dtype());
  return TensorFileHeader{*dtype, Shape(chunk.shape().begin(), chunk.shape().end()),
                          chunk.size_bytes()};
}

}  // namespace pareto::daemon
