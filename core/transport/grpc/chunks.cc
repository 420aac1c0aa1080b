#include "core/transport/grpc/chunks.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace pareto::transport::grpc {
namespace {

// Below this a copy costs less than a slice of its own.
constexpr std::size_t kCopyBelowBytes = 8 << 10;

using Owner = std::shared_ptr<const void>;
using Joined = std::vector<std::byte>;

/// A slice that refers to bytes kept alive by `owner`.
template <typename Held>
::grpc::Slice refer_to(std::span<const std::byte> bytes, std::unique_ptr<Held> owner) {
  return ::grpc::Slice(
      const_cast<std::byte*>(bytes.data()), bytes.size(),
      [](void* held) { delete static_cast<Held*>(held); }, owner.release());
}

/// Gathers slices, small ones joined, into messages.
class ChunkWriter {
 public:
  explicit ChunkWriter(std::size_t chunk_bytes) : chunk_bytes_(chunk_bytes) {}

  void add(std::span<const std::byte> bytes, const Owner& owner) {
    while (!bytes.empty()) {
      const auto part = bytes.first(std::min(bytes.size(), chunk_bytes_ - filled_));
      bytes = bytes.subspan(part.size());
      if (part.size() < kCopyBelowBytes || !owner) {
        joined_.insert(joined_.end(), part.begin(), part.end());
      } else {
        end_joined();
        slices_.push_back(refer_to(part, std::make_unique<Owner>(owner)));
      }
      filled_ += part.size();
      if (filled_ == chunk_bytes_) end_chunk();
    }
  }

  std::deque<::grpc::ByteBuffer> finish() {
    if (filled_ > 0) end_chunk();
    return std::move(chunks_);
  }

 private:
  void end_joined() {
    if (joined_.empty()) return;
    auto joined = std::make_unique<Joined>(std::exchange(joined_, {}));
    const std::span<const std::byte> bytes(*joined);
    slices_.push_back(refer_to(bytes, std::move(joined)));
  }
  void end_chunk() {
    end_joined();
    chunks_.emplace_back(slices_.data(), slices_.size());
    slices_.clear();
    filled_ = 0;
  }

  const std::size_t chunk_bytes_;
  std::size_t filled_ = 0;  // of the message under way
  Joined joined_;
  std::vector<::grpc::Slice> slices_;
  std::deque<::grpc::ByteBuffer> chunks_;
};

}  // namespace

std::deque<::grpc::ByteBuffer> to_chunks(wire::EncodedFrame& frame, std::size_t chunk_bytes) {
  ChunkWriter writer(chunk_bytes);
  for (const auto& piece : frame.pieces()) writer.add(piece.bytes, piece.owner);
  writer.add(frame.trailer(), nullptr);
  return writer.finish();
}

Expected<> ChunkReader::refill(const ::grpc::ByteBuffer& chunk) {
  slices_.clear();
  slice_ = 0;
  offset_ = 0;
  const ::grpc::Status status = chunk.Dump(&slices_);
  if (!status.ok()) {
    slices_.clear();
    return fail(ErrorCode::kCorrupt, "a message cannot be read: {}", status.error_message());
  }
  return {};
}

Expected<> ChunkReader::feed(wire::FrameDecoder& decoder) {
  while (!decoder.complete() && !empty()) {
    const ::grpc::Slice& slice = slices_[slice_];
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(slice.begin()),
                                           slice.size());
    PARETO_ASSIGN(const std::size_t used, decoder.feed(bytes.subspan(offset_)));
    offset_ += used;
    if (offset_ == slice.size()) {
      ++slice_;
      offset_ = 0;
    }
  }
  if (empty()) {
    slices_.clear();
    slice_ = 0;
  }
  return {};
}

}  // namespace pareto::transport::grpc
