#include "core/transport/shm/outbox.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "core/base/poll.h"

namespace pareto::transport::shm {
namespace {

constexpr std::size_t kBlockUnit = 64 << 10;
// Of a block, beyond its frame: the state, and what brings the payload to a multiple of 64.
constexpr std::size_t kOverhead = kFrameOffset + Tensor::kAlignment;
// What one packet of pieces may hold; a small frame of more is copied through a block.
constexpr std::size_t kMostInlinePieces = 60;

}  // namespace

Expected<std::unique_ptr<Outbox>> Outbox::open(const FileDescriptor& socket, const Waker& waker,
                                               const Limits& limits) {
  PARETO_ASSIGN(SharedMemory control, SharedMemory::create(kControlBytes));
  FileDescriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return fail(ErrorCode::kExhausted, "no event descriptor: {}", errno_text(errno));
  new (control.data()) Control{};
  const std::array<int, 2> descriptors{control.descriptor(), event.get()};
  PARETO_TRY(send_packet(socket, {.kind = PacketKind::kSetup, .bytes = kSetupVersion}, {},
                         descriptors, waker, std::nullopt));
  return std::unique_ptr<Outbox>(
      new Outbox(socket, waker, limits, std::move(control), std::move(event)));
}

Outbox::Outbox(const FileDescriptor& socket, const Waker& waker, const Limits& limits,
               SharedMemory control, FileDescriptor event)
    : socket_(socket),
      waker_(waker),
      limits_(limits),
      control_memory_(std::move(control)),
      control_(*reinterpret_cast<Control*>(control_memory_.data())),
      event_(std::move(event)) {}

Expected<> Outbox::send(const wire::EncodedFrame& frame, Deadline deadline) {
  if (frame.size_bytes() <= kMostInlineBytes && frame.pieces().size() <= kMostInlinePieces) {
    return send_inline(frame, deadline);
  }
  PARETO_TRY(wait_for_room(frame.size_bytes(), deadline));
  PARETO_ASSIGN(Block * block, free_block(frame.size_bytes(), deadline));
  // The payload begins behind the first piece.
  const std::size_t misfit = frame.pieces().front().bytes.size() % Tensor::kAlignment;
  const std::size_t offset = kFrameOffset + (misfit == 0 ? 0 : Tensor::kAlignment - misfit);
  std::byte* at = block->memory.data() + offset;
  for (const auto& piece : frame.pieces()) {
    std::memcpy(at, piece.bytes.data(), piece.bytes.size());
    at += piece.bytes.size();
  }
  block->used().store(1, std::memory_order_release);
  auto posted = send_packet(socket_,
                            {.kind = PacketKind::kFrame,
                             .block = block->id,
                             .offset = static_cast<std::uint32_t>(offset),
                             .bytes = frame.size_bytes()},
                            {}, {}, waker_, deadline);
  if (!posted) {
    block->used().store(0, std::memory_order_relaxed);
    return posted;
  }
  sent_bytes_ += frame.size_bytes();
  return {};
}

Expected<> Outbox::send_inline(const wire::EncodedFrame& frame, Deadline deadline) {
  std::array<std::span<const std::byte>, kMostInlinePieces> pieces;
  std::size_t count = 0;
  for (const auto& piece : frame.pieces()) pieces[count++] = piece.bytes;
  return send_packet(socket_, {.kind = PacketKind::kInline, .bytes = frame.size_bytes()},
                     std::span(pieces).first(count), {}, waker_, deadline);
}

bool Outbox::has_room(std::uint64_t bytes) const {
  const std::uint64_t taken = control_.taken.load(std::memory_order_seq_cst);
  const std::uint64_t unread = sent_bytes_ - std::min(taken, sent_bytes_);
  return unread == 0 || unread + bytes <= limits_.read_ahead_bytes;
}

Expected<> Outbox::wait_for_room(std::uint64_t bytes, Deadline deadline) {
  while (!has_room(bytes)) {
    control_.waiting.store(1, std::memory_order_seq_cst);
    if (has_room(bytes)) break;
    // The peer rings the event when it takes a frame; it hangs up when it goes.
    std::array<pollfd, 3> polled{{{event_.get(), POLLIN, 0},
                                  {socket_.get(), POLLRDHUP, 0},
                                  {waker_.descriptor(), POLLIN, 0}}};
    PARETO_TRY(poll_until(polled, deadline));
    if (polled[2].revents != 0) return fail(ErrorCode::kClosed, "closed on this side");
    if (polled[1].revents != 0) return fail(ErrorCode::kClosed, "the peer closed the link");
    std::uint64_t rung = 0;
    [[maybe_unused]] const auto read = ::read(event_.get(), &rung, sizeof(rung));
  }
  control_.waiting.store(0, std::memory_order_relaxed);
  return {};
}

Expected<Outbox::Block*> Outbox::free_block(std::uint64_t bytes, Deadline deadline) {
  const std::uint64_t most = 2 * bytes + kBlockUnit;
  for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
    const std::size_t size = block->memory.size_bytes();
    const bool fits = size >= bytes + kOverhead && size <= most;
    if (!fits || block->used().load(std::memory_order_acquire) != 0) continue;
    blocks_.splice(blocks_.begin(), blocks_, block);
    return &blocks_.front();
  }
  PARETO_TRY(drop_idle(deadline));
  if (blocks_.size() >= kMostBlocks) {
    return fail(ErrorCode::kExhausted, "the peer keeps {} messages", blocks_.size());
  }
  const std::uint64_t size = (bytes + kOverhead + kBlockUnit - 1) / kBlockUnit * kBlockUnit;
  PARETO_ASSIGN(SharedMemory memory, SharedMemory::create(size));
  new (memory.data()) BlockState{};
  const std::array<int, 1> descriptors{memory.descriptor()};
  PARETO_TRY(send_packet(socket_, {.kind = PacketKind::kBlock, .block = next_id_, .bytes = size},
                         {}, descriptors, waker_, deadline));
  memory.close_descriptor();
  blocks_.push_front({next_id_++, std::move(memory)});
  return &blocks_.front();
}

Expected<> Outbox::drop_idle(Deadline deadline) {
  std::size_t idle = 0;
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    if (block->used().load(std::memory_order_acquire) != 0) {
      ++block;
      continue;
    }
    idle += block->memory.size_bytes();
    if (idle <= kMostIdleBytes) {
      ++block;
      continue;
    }
    PARETO_TRY(send_packet(socket_, {.kind = PacketKind::kDrop, .block = block->id}, {}, {}, waker_,
                           deadline));
    block = blocks_.erase(block);
  }
  return {};
}

}  // namespace pareto::transport::shm
