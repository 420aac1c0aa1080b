// The sending half of a shared-memory link: blocks that frames are copied into. Internal to
// core/transport/shm.
#pragma once

#include <list>

#include "core/transport/shm/memory.h"
#include "core/transport/shm/packet.h"
#include "core/transport/transport.h"
#include "core/wire/frame.h"

namespace pareto::transport::shm {

/// Blocks that a sender shares with its peer. Its memory is bounded:
/// - Frames not received yet by the read-ahead limit, or they are one frame.
/// - Received frames by what the peer keeps of them.
/// - Idle blocks by kMostIdleBytes.
///
/// Threads: the sending one.
class Outbox {
 public:
  /// Tells the peer about itself. Fails: kExhausted, and as packets do.
  static Expected<std::unique_ptr<Outbox>> open(const FileDescriptor& socket, const Waker& waker,
                                                const Limits& limits);

  /// Sends a frame through shared memory, or inline if it is small. Fails: kTimeout (nothing went
  /// out), kClosed, kUnavailable, kExhausted (no shared memory).
  Expected<> send(const wire::EncodedFrame& frame, Deadline deadline);

 private:
  static constexpr std::size_t kMostIdleBytes = std::size_t{64} << 20;

  struct Block {
    std::uint32_t id;
    SharedMemory memory;
    std::atomic<std::uint32_t>& used() const {
      return reinterpret_cast<BlockState*>(memory.data())->used;
    }
  };

  Outbox(const FileDescriptor& socket, const Waker& waker, const Limits& limits,
         SharedMemory control, FileDescriptor event);
  Expected<> send_inline(const wire::EncodedFrame& frame, Deadline deadline);
  /// Waits until the peer has taken enough of what was sent before.
  Expected<> wait_for_room(std::uint64_t bytes, Deadline deadline);
  bool has_room(std::uint64_t bytes) const;
  Expected<Block*> free_block(std::uint64_t bytes, Deadline deadline);
  Expected<> drop_idle(Deadline deadline);

  const FileDescriptor& socket_;
  const Waker& waker_;
  const Limits limits_;
  const SharedMemory control_memory_;
  Control& control_;
  const FileDescriptor event_;
  std::list<Block> blocks_;  ///< the last used first
  std::uint32_t next_id_ = 0;
  std::uint64_t sent_bytes_ = 0;
};

}  // namespace pareto::transport::shm
