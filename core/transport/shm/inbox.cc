#include "core/transport/shm/inbox.h"

#include <unistd.h>

#include <utility>

namespace pareto::transport::shm {
namespace {

// Blocks are rounded up.
constexpr std::uint64_t kBlockSlack = 128 << 10;
constexpr std::uint64_t kIdleSlack = std::uint64_t{256} << 20;

}  // namespace

void Inbox::Bell::ring() const {
  if (shared().waiting.load(std::memory_order_seq_cst) == 0) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event.get(), &one, sizeof(one));
}

Expected<std::optional<Inbox::Frame>> Inbox::take(Packet packet) {
  const PacketHeader header = packet.header;
  if (header.kind == PacketKind::kSetup) {
    PARETO_TRY(set_up(std::move(packet)));
    return std::nullopt;
  }
  if (!bell_) return fail(ErrorCode::kCorrupt, "a peer that did not introduce its memory");
  if (header.kind == PacketKind::kBlock) {
    PARETO_TRY(add_block(std::move(packet)));
    return std::nullopt;
  }
  if (header.kind == PacketKind::kFrame) return find_frame(header);
  const auto block = blocks_.find(header.block);
  if (header.kind != PacketKind::kDrop || block == blocks_.end()) {
    return fail(ErrorCode::kCorrupt, "a packet of kind {}, block {}",
                static_cast<std::uint32_t>(header.kind), header.block);
  }
  mapped_bytes_ -= block->second->size_bytes();
  blocks_.erase(block);
  return std::nullopt;
}

Expected<> Inbox::set_up(Packet packet) {
  if (bell_ || packet.header.bytes != kSetupVersion || packet.descriptors.size() != 2) {
    return fail(ErrorCode::kCorrupt, "this introduction is none of version {}", kSetupVersion);
  }
  PARETO_ASSIGN(SharedMemory control,
                SharedMemory::map(std::move(packet.descriptors[0]), kControlBytes));
  bell_ = std::make_unique<const Bell>(Bell{std::move(control), std::move(packet.descriptors[1])});
  return {};
}

Expected<> Inbox::add_block(Packet packet) {
  const std::uint64_t bytes = packet.header.bytes;
  if (packet.descriptors.size() != 1 || bytes <= kFrameOffset ||
      blocks_.contains(packet.header.block)) {
    return fail(ErrorCode::kCorrupt, "block {} of {} bytes", packet.header.block, bytes);
  }
  const std::uint64_t most = limits_.max_frame_bytes;
  if (blocks_.size() >= kMostBlocks || bytes > most + kBlockSlack ||
      mapped_bytes_ + bytes > 2 * most + kIdleSlack) {
    return fail(ErrorCode::kExhausted,
                "the peer wants to share a block of {} bytes next to {} in {} blocks; at most {} "
                "bytes a frame are allowed (max_frame)",
                bytes, mapped_bytes_, blocks_.size(), most);
  }
  PARETO_ASSIGN(SharedMemory memory, SharedMemory::map(std::move(packet.descriptors[0]), bytes));
  blocks_.emplace(packet.header.block, std::make_shared<const SharedMemory>(std::move(memory)));
  mapped_bytes_ += bytes;
  return {};
}

Expected<Inbox::Frame> Inbox::find_frame(const PacketHeader& header) {
  const auto block = blocks_.find(header.block);
  const std::size_t size = block == blocks_.end() ? 0 : block->second->size_bytes();
  if (header.offset < kFrameOffset || header.offset > size || header.bytes > size - header.offset) {
    return fail(ErrorCode::kCorrupt, "a frame of {} bytes at {} of block {}", header.bytes,
                header.offset, header.block);
  }
  std::byte* const start = block->second->data();
  bell_->shared().taken.fetch_add(header.bytes, std::memory_order_seq_cst);
  bell_->ring();
  // The block goes back to the sender with the last tensor that lies in it.
  std::shared_ptr<const void> owner(start, [held = block->second](const void* memory) {
    const auto* state = static_cast<const BlockState*>(memory);
    const_cast<BlockState*>(state)->used.store(0, std::memory_order_release);
  });
  return Frame{{start + header.offset, header.bytes}, std::move(owner)};
}

}  // namespace pareto::transport::shm
