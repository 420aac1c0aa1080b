#include "coordinator/cluster/state_reader.h"

#include <cstring>
#include <utility>

#include "core/base/printable.h"

namespace pareto::cluster {

Expected<> StateReader::begin(const control::v1::StateChunk& chunk) {
  if (tensor_) return fail(ErrorCode::kCorrupt, "a tensor begins before the last one is complete");
  const auto dtype = chunk.dtype() <= 255
                         ? dtype_from_number(static_cast<std::uint8_t>(chunk.dtype()))
                         : std::nullopt;
  if (!dtype) return fail(ErrorCode::kCorrupt, "a tensor of the unknown dtype {}", chunk.dtype());
  Shape shape(chunk.shape().begin(), chunk.shape().end());
  PARETO_ASSIGN(const std::size_t bytes, byte_count(*dtype, shape));
  if (bytes != chunk.size_bytes()) {
    return fail(ErrorCode::kCorrupt, "{}: {} bytes, not the {} of its shape",
                printable(chunk.name()), chunk.size_bytes(), bytes);
  }
  // Its place in the list and its name take memory too.
  constexpr std::uint64_t kEach = 256;
  const std::uint64_t wanted = bytes + chunk.name().size() + kEach;
  if (wanted > left_bytes_) {
    return fail(ErrorCode::kExhausted, "{}: more bytes than the state of this shard has",
                printable(chunk.name()));
  }
  left_bytes_ -= wanted;
  PARETO_ASSIGN(Tensor tensor, Tensor::allocate(*dtype, std::move(shape)));
  tensor_ = plan::StateTensor{chunk.name(), std::move(tensor)};
  filled_ = 0;
  return {};
}

void StateReader::keep() {
  if (!tensor_ || !is_complete()) return;
  done_.push_back(*std::move(tensor_));
  tensor_.reset();
}

Expected<> StateReader::take(const control::v1::StateChunk& chunk) {
  if (!chunk.name().empty()) {
    PARETO_TRY(begin(chunk));
  } else if (!tensor_) {
    return fail(ErrorCode::kCorrupt, "a chunk that belongs to no tensor");
  }
  const std::string& data = chunk.data();
  if (data.size() > tensor_->tensor.size_bytes() - filled_) {
    return fail(ErrorCode::kCorrupt, "{}: more bytes than it has", printable(tensor_->name));
  }
  std::memcpy(tensor_->tensor.mutable_bytes().data() + filled_, data.data(), data.size());
  filled_ += data.size();
  keep();
  return {};
}

Expected<std::vector<plan::StateTensor>> StateReader::finish() && {
  if (tensor_) return fail(ErrorCode::kCorrupt, "{} is not complete", printable(tensor_->name));
  return std::move(done_);
}

}  // namespace pareto::cluster
