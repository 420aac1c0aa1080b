// Bytes of frames that are changed, cut off, doubled or swapped on their way: none of them passes
// for what was sent.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "core/transport/grpc/chunks.h"
#include "core/wire/frame.h"
#include "tests/core/transport/fixture.h"
#include "tests/support/fault_figures.h"

namespace pareto::transport {
namespace {

using Bytes = std::vector<std::byte>;
using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
}

wire::Message sent_message(std::uint64_t request) {
  wire::Message message = message_of(request, 700);
  message.timeline.push_back({.stage = 1, .compute = Nanoseconds(123'456)});
  return message;
}

Bytes bytes_of(std::uint64_t request, bool payload_checksum = true) {
  auto frame =
      must(wire::encode_frame(sent_message(request), {.payload_checksum = payload_checksum}));
  Bytes bytes;
  for (const auto& piece : frame.pieces()) {
    bytes.insert(bytes.end(), piece.bytes.begin(), piece.bytes.end());
  }
  const auto trailer = frame.trailer();
  bytes.insert(bytes.end(), trailer.begin(), trailer.end());
  return bytes;
}

bool is_as_sent(const wire::Message& message, std::uint64_t request) {
  const wire::Message sent = sent_message(request);
  return message.kind == sent.kind && message.pipeline == sent.pipeline &&
         message.request == sent.request && message.sequence == sent.sequence &&
         message.timeline == sent.timeline && bit_equal(message.body, sent.body);
}

/// Reads messages as a tcp link does, from bytes that come in any pieces. Returns how many came
/// until the bytes ended or were refused. `wrong`: one came that was not sent, or not in its turn.
std::size_t read_stream(const Bytes& bytes, std::size_t piece, bool& wrong) {
  wire::FrameDecoder decoder;
  std::size_t messages = 0;
  std::span<const std::byte> left(bytes);
  while (!left.empty()) {
    const auto used = decoder.feed(left.first(std::min(left.size(), piece)));
    if (!used) return messages;
    left = left.subspan(*used);
    if (!decoder.complete()) continue;
    const wire::Message message = decoder.take();
    // A stage refuses a request that is not the next one (daemon/stage/stage_links.h).
    if (message.request != messages) return messages;
    wrong = wrong || !is_as_sent(message, messages);
    ++messages;
  }
  return messages;
}

/// Reads one message as a grpc link does. Returns whether there is one.
bool read_chunks(const Bytes& bytes, std::size_t chunk_bytes) {
  wire::FrameDecoder decoder;
  grpc::ChunkReader reader;
  for (std::size_t at = 0; at < bytes.size(); at += chunk_bytes) {
    const ::grpc::Slice slice(bytes.data() + at, std::min(chunk_bytes, bytes.size() - at));
    if (!reader.refill(::grpc::ByteBuffer(&slice, 1)) || !reader.feed(decoder)) return false;
  }
  return decoder.complete();
}

/// Reads one message as a shm link does, from memory that it shares with the sender.
bool read_block(const Bytes& bytes) {
  return wire::borrow_frame(bytes, std::make_shared<int>(), {}).has_value();
}

/// Flips random bits of a frame, one at a time. Returns how often `reads` took the frame.
template <typename Reads>
std::size_t undetected(std::size_t flips, Bytes frame, std::size_t first_bytes, Reads reads) {
  Random random(20);
  std::size_t taken = 0;
  for (std::size_t i = 0; i < flips; ++i) {
    std::byte& byte = frame[below(random, first_bytes)];
    const auto bit = static_cast<std::byte>(1U << below(random, 8));
    byte ^= bit;
    taken += reads(frame, 1 + below(random, frame.size())) ? 1 : 0;
    byte ^= bit;
  }
  return taken;
}

TEST(FrameFaults, BitsThatFlip) {
  test::FaultRow row{.fault = "one bit of a frame flips, on tcp, grpc and shm",
                     .expected = "0 undetected",
                     .cycles = test::cycles(10'000, 1'000'000)};
  const Bytes frame = bytes_of(0);
  const auto tcp = [](const Bytes& bytes, std::size_t piece) {
    bool wrong = false;
    return read_stream(bytes, piece, wrong) > 0;
  };
  ASSERT_TRUE(tcp(frame, 100)) << "as it was sent";
  ASSERT_TRUE(read_chunks(frame, 100));
  const Bytes shared = bytes_of(0, false);
  ASSERT_TRUE(read_block(shared));
  const std::size_t by_tcp = undetected(row.cycles, frame, frame.size(), tcp);
  const std::size_t by_grpc = undetected(row.cycles, frame, frame.size(), read_chunks);
  // Tensors in shared memory have no checksum: only the machine's memory lies between its ends.
  const std::size_t by_shm =
      undetected(row.cycles, shared, shared.size() - 700,
                 [](const Bytes& bytes, std::size_t) { return read_block(bytes); });
  EXPECT_EQ(by_tcp, 0U);
  EXPECT_EQ(by_grpc, 0U);
  EXPECT_EQ(by_shm, 0U);
  row.add("undetected", by_tcp + by_grpc + by_shm);
  test::record(row);
}

TEST(FrameFaults, PiecesThatAreCutOffDoubledSwappedOrMissing) {
  constexpr std::size_t kFrames = 4;
  test::FaultRow row{.fault = "pieces of a stream of frames are cut off, doubled, swapped or lost",
                     .expected = "0 undetected",
                     .cycles = test::cycles(10'000, 1'000'000)};
  Bytes stream;
  for (std::size_t i = 0; i < kFrames; ++i) {
    const Bytes frame = bytes_of(i);
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  const std::size_t frame_bytes = stream.size() / kFrames;
  Random random(21);
  std::size_t wrong_streams = 0;
  for (std::size_t i = 0; i < row.cycles; ++i) {
    // Every other time whole frames.
    const std::size_t size = i % 2 == 0 ? frame_bytes : 1 + below(random, 600);
    const std::size_t from = below(random, stream.size() / size) * size;
    const auto begin = stream.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(size, stream.size() - from));
    Bytes changed;
    switch (below(random, 4)) {
      case 0:  // the rest never comes
        changed.assign(stream.begin(), begin);
        break;
      case 1:
        changed.assign(stream.begin(), end);
        changed.insert(changed.end(), begin, stream.end());
        break;
      case 2:
        changed.assign(stream.begin(), begin);
        changed.insert(changed.end(), end, stream.end());
        changed.insert(changed.end(), begin, end);
        break;
      default:
        changed.assign(stream.begin(), begin);
        changed.insert(changed.end(), end, stream.end());
        break;
    }
    bool wrong = false;
    const std::size_t came = read_stream(changed, 1 + below(random, 3000), wrong);
    // A last piece that is doubled comes when all have come.
    const bool all_came = came == kFrames && changed != stream && changed.size() <= stream.size();
    wrong_streams += wrong || all_came ? 1 : 0;
  }
  EXPECT_EQ(wrong_streams, 0U);
  row.add("undetected", wrong_streams);
  test::record(row);
}

}  // namespace
}  // namespace pareto::transport
