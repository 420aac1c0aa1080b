// Any packets and any memory from the other end of a link in shared memory, and any parts of
// requests: refused, or messages that can be sent on, also once the link is gone.
//
//   input = 0, then packets, each as PacketBytes and its body
//           1, how many values a request has, then messages, each as PartBytes and what framed.h
//              makes a frame of
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/transport/shm/link.h"
#include "core/wire/parts.h"
#include "tests/fuzz/framed.h"

namespace pareto::transport::shm {
namespace {

using Input = std::span<const std::byte>;

constexpr Limits kLimits{.max_frame_bytes = 1 << 16};
constexpr std::size_t kMostMemory = 1 << 18;

/// A packet as the input has it.
struct PacketBytes {
  std::uint8_t kind = 0;
  std::uint8_t block = 0;
  std::uint8_t descriptors = 0;  ///< up to 2
  std::uint8_t memory = 0;       ///< 0: of the size that the packet says; else another one
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint16_t body_bytes = 0;  ///< kBlock: what framed.h makes its frame of; else: sent along
  std::uint16_t frame_kind = 0;  ///< 0: the body as it is; else a frame of that kind
};

struct PartBytes {
  std::uint8_t kind = 0;
  std::uint8_t request = 0;
  std::uint8_t sequence = 0;
  std::uint8_t body_bytes = 0;
};

template <typename T>
std::optional<T> take(Input& input) {
  if (input.size() < sizeof(T)) return std::nullopt;
  T taken;
  std::memcpy(&taken, input.data(), sizeof taken);
  input = input.subspan(sizeof taken);
  return taken;
}

Input take_bytes(Input& input, std::size_t size) {
  const Input taken = input.first(std::min(size, input.size()));
  input = input.subspan(taken.size());
  return taken;
}

/// Reads all bytes of a message.
void read_whole(const wire::Message& message) {
  const auto frame = wire::encode_frame(message, {}, fuzz::kSmallFrames);
  if (!frame) return;
  wire::FrameDecoder decoder(fuzz::kSmallFrames);
  for (const auto& piece : frame->pieces()) {
    if (!decoder.feed(piece.bytes)) std::abort();
  }
}

/// The end of a link that sends what the input says.
class Peer {
 public:
  Peer(FileDescriptor socket, Waker waker) : socket_(std::move(socket)), waker_(std::move(waker)) {}

  bool send(const PacketBytes& said, Input body) {
    const PacketHeader header{static_cast<PacketKind>(said.kind), said.block, 0, said.offset,
                              said.bytes};
    std::vector<std::byte> framed(body.begin(), body.end());
    if (said.frame_kind != 0 && body.size() >= sizeof(std::uint16_t)) {
      framed = fuzz::framed(static_cast<wire::MessageKind>(said.frame_kind), body);
    }
    std::vector<int> descriptors;
    std::optional<SharedMemory> memory;
    if (said.descriptors > 0) {
      const bool is_setup = header.kind == PacketKind::kSetup;
      const std::size_t size = said.memory != 0 ? said.memory * 512UL
                               : is_setup       ? kControlBytes
                                                : said.bytes;
      memory.emplace(made(std::clamp<std::size_t>(size, 1, kMostMemory), framed));
      descriptors.push_back(memory->descriptor());
    }
    if (said.descriptors > 1) descriptors.push_back(waker_.descriptor());
    const Input sent = header.kind == PacketKind::kInline ? Input(framed) : Input();
    return send_packet(socket_, header, std::array{sent}, descriptors, waker_, Clock::now())
        .has_value();
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Makes memory that holds the frame behind its state.
  static SharedMemory made(std::size_t size, Input frame) {
    auto memory = SharedMemory::create(size);
    if (!memory) std::abort();
    const Input fitting = frame.first(std::min(frame.size(), size - std::min(size, kFrameOffset)));
    std::ranges::copy(fitting, memory->data() + std::min(size, kFrameOffset));
    return *std::move(memory);
  }

  FileDescriptor socket_;
  Waker waker_;
};

void receive_all(Input input) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) {
    std::abort();
  }
  auto link = ShmLink::open(FileDescriptor(ends[0]), "fuzz", LinkOptions{.limits = kLimits});
  {
    Peer peer(FileDescriptor(ends[1]), *Waker::create());
    for (auto said = take<PacketBytes>(input); said; said = take<PacketBytes>(input)) {
      if (!peer.send(*said, take_bytes(input, said->body_bytes))) break;
    }
  }
  if (!link) std::abort();
  std::vector<wire::Message> messages;
  for (auto got = (*link)->receive({}); got; got = (*link)->receive({})) {
    read_whole(messages.emplace_back(std::move(got->message)));
  }
  // Tensors keep the blocks that they lie in.
  link->reset();
  for (const wire::Message& message : messages) read_whole(message);
}

void assemble(Input input) {
  const auto values = take<std::uint8_t>(input);
  if (!values) return;
  wire::PartAssembler parts(*values);
  std::size_t kept = 0;
  for (auto said = take<PartBytes>(input); said; said = take<PartBytes>(input)) {
    const Input body = take_bytes(input, said->body_bytes);
    if (body.size() < sizeof(std::uint16_t)) return;
    const auto frame = fuzz::framed(static_cast<wire::MessageKind>(said->kind), body);
    auto message = wire::decode_frame(frame, fuzz::kSmallFrames);
    if (!message) return;
    message->request = said->request;
    message->sequence = said->sequence;
    if (message->kind == wire::MessageKind::kPart) {
      if (!parts.keep(*std::move(message))) return;
      if (++kept > *values) std::abort();
    } else {
      if (!parts.complete(*message)) return;
      if (message->kind != wire::MessageKind::kError && message->sequence != 0) std::abort();
      read_whole(*message);
      kept = 0;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Input input = std::as_bytes(std::span(data, size)).subspan(1);
  data[0] % 2 == 0 ? receive_all(input) : assemble(input);
  return 0;
}

}  // namespace pareto::transport::shm
