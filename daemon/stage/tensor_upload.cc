#include "daemon/stage/tensor_upload.h"

#include <system_error>
#include <utility>

#include "daemon/stage/tensor_store.h"

namespace pareto::daemon {

TensorUpload::TensorUpload(TensorStore& store, const Digest& digest, TensorFileHeader header)
    : store_(store), digest_(digest), header_(std::move(header)) {}

TensorUpload::~TensorUpload() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove(path_, ignored);
  if (reserved_ > 0) store_.release(reserved_);
}

Expected<> TensorUpload::append(std::span<const std::byte> bytes) {
  if (bytes.size() > header_.size_bytes - received_) {
    return fail(ErrorCode::kInvalidArgument, "tensor {}: more than the announced {} bytes",
                digest_.hex(), header_.size_bytes);
  }
  received_ += bytes.size();
  hasher_.update(bytes);
  if (!file_) return {};
  PARETO_TRY(store_.make_room(*this));
  return with_context(store_.write(file_.get(), bytes), "tensor {}", digest_.hex());
}

Expected<> TensorUpload::finish() {
  if (!complete()) {
    return fail(ErrorCode::kInvalidArgument, "tensor {}: {} of {} announced bytes came",
                digest_.hex(), received_, header_.size_bytes);
  }
  if (const Digest actual = hasher_.finish(); actual != digest_) {
    return fail(ErrorCode::kCorrupt, "tensor {}: digest mismatch, its bytes have {}", digest_.hex(),
                actual.hex());
  }
  return file_ ? store_.publish(*this) : Expected<>();
}

}  // namespace pareto::daemon
