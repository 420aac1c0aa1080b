// Packets that the two ends of a shared-memory link exchange through their Unix socket, and the
// layout of the memory they share. The socket is SOCK_SEQPACKET: packets arrive whole and in order.
// Internal to core/transport/shm.
//
//   sender                                                     receiver
//   kSetup + control memory + event      ──────────▶           maps the control memory
//   kBlock id, bytes + its memory        ──────────▶           maps the block
//   (writes a frame into a free block)
//   kFrame id, offset, bytes             ──────────▶           reads it there; tensors stay there
//                                        ◀── Control::taken    has received it
//                                        ◀── BlockState::used  0 once no tensor refers to it
//                                        ◀── event             after `taken`, if Control::waiting
//   kInline + a small frame's bytes      ──────────▶
//   kDrop id                             ──────────▶           unmaps the block
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/error.h"
#include "core/transport/socket.h"

namespace pareto::transport::shm {

enum class PacketKind : std::uint32_t { kSetup = 1, kBlock, kFrame, kInline, kDrop };

struct PacketHeader {
  PacketKind kind = PacketKind::kSetup;
  std::uint32_t block = 0;
  std::uint32_t reserved = 0;
  std::uint32_t offset = 0;  ///< kFrame: where in the block it begins
  std::uint64_t bytes =
      0;  ///< kBlock: of the memory; kFrame, kInline: of the frame; kSetup: kSetupVersion
};

constexpr std::uint64_t kSetupVersion = 1;
/// Frames up to this travel in the packet: sharing would cost more than copying.
constexpr std::size_t kMostInlineBytes = 16 << 10;

/// One direction's, written by the receiver, `waiting` by the sender.
struct Control {
  std::atomic<std::uint64_t> taken;  ///< bytes of frames in blocks that were received
  std::atomic<std::uint32_t> waiting;
};
/// The state at the start of each block, its first kFrameOffset bytes. The frame follows so that
/// its payload begins at a multiple of 64.
struct BlockState {
  std::atomic<std::uint32_t> used;
};
constexpr std::size_t kFrameOffset = 64;
constexpr std::size_t kControlBytes = 4096;
/// The most blocks that one direction may have at a time.
constexpr std::size_t kMostBlocks = 256;
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Sends one packet, with up to two descriptors. Fails: kTimeout, kClosed, kUnavailable.
Expected<> send_packet(const FileDescriptor& socket, const PacketHeader& header,
                       std::span<const std::span<const std::byte>> body,
                       std::span<const int> descriptors, const Waker& waker, Deadline deadline);

struct Packet {
  PacketHeader header;
  std::span<const std::byte> body;          ///< body in the buffer given
  std::vector<FileDescriptor> descriptors;  ///< descriptors that came with it
};
/// Receives one into `buffer` (room for a header and kMostInlineBytes). Fails: kTimeout, kClosed
/// (by either side), kCorrupt (no packet), kUnavailable.
Expected<Packet> receive_packet(const FileDescriptor& socket, std::span<std::byte> buffer,
                                const Waker& waker, Deadline deadline);

}  // namespace pareto::transport::shm
