// The receiving half of a shared-memory link: frames are read where the sender put them. Internal
// to core/transport/shm.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "core/transport/shm/memory.h"
#include "core/transport/shm/packet.h"
#include "core/transport/transport.h"

namespace pareto::transport::shm {

/// The segments of shared memory that a sender announced, and the frames in them.
///
/// Threads: the receiving one; the frames it hands out may be let go from any.
class Inbox {
 public:
  explicit Inbox(const Limits& limits) : limits_(limits) {}

  /// A frame in shared memory: its bytes, and what keeps them there.
  struct Frame {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
  };
  /// Takes any packet but kInline. A frame, where it was one. Fails: kCorrupt, kExhausted (over the
  /// limits).
  Expected<std::optional<Frame>> take(Packet packet);

 private:
  /// The doorbell that wakes the sender.
  struct Bell {
    SharedMemory control;
    FileDescriptor event;
    Control& shared() const { return *reinterpret_cast<Control*>(control.data()); }
    void ring() const;
  };
  Expected<> set_up(Packet packet);
  Expected<> add_block(Packet packet);
  Expected<Frame> find_frame(const PacketHeader& header);

  const Limits limits_;
  std::unique_ptr<const Bell> bell_;
  std::map<std::uint32_t, std::shared_ptr<const SharedMemory>> blocks_;
  std::uint64_t mapped_bytes_ = 0;
};

}  // namespace pareto::transport::shm
