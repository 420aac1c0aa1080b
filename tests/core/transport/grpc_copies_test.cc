// How often the grpc transport copies a tensor: not at all on its way out, once on its way in.
#include "core/transport/grpc/chunks.h"
#include "tests/core/transport/fixture.h"

namespace pareto::transport::grpc {
namespace {

constexpr std::size_t kChunk = 1 << 20;

Tensor float_tensor(std::int64_t elements) {
  auto tensor = must(Tensor::allocate(DType::kFloat32, {elements}));
  auto bytes = tensor.mutable_bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 13 >> 3);
  return tensor;
}

bool lies_in(const ::grpc::Slice& slice, const Tensor& tensor) {
  const auto* const begin = reinterpret_cast<const std::byte*>(slice.begin());
  const auto* const end = reinterpret_cast<const std::byte*>(slice.end());
  return begin >= tensor.bytes().data() && end <= tensor.bytes().data() + tensor.size_bytes();
}

TEST(GrpcCopies, ATensorLeavesFromItsOwnMemoryAndEntersItsFinalMemoryFromGrpcs) {
  const Tensor large = float_tensor(700'000);  // several messages
  wire::Message message;
  message.body = Tuple{{large, float_tensor(100), float_tensor(2'000)}};
  auto frame = must(wire::encode_frame(message));
  const auto chunks = to_chunks(frame, kChunk);
  ASSERT_EQ(chunks.size(), 3U);

  std::size_t referred_bytes = 0;
  std::size_t copied_bytes = 0;
  ChunkReader reader;
  wire::FrameDecoder decoder;
  for (const ::grpc::ByteBuffer& chunk : chunks) {
    EXPECT_LE(chunk.Length(), kChunk);
    std::vector<::grpc::Slice> slices;
    // What a reader sees are the buffers themselves.
    ASSERT_TRUE(chunk.Dump(&slices).ok());
    for (const ::grpc::Slice& slice : slices) {
      (lies_in(slice, large) ? referred_bytes : copied_bytes) += slice.size();
    }
    ASSERT_TRUE(reader.refill(chunk));
    ASSERT_TRUE(reader.feed(decoder));
  }
  EXPECT_EQ(referred_bytes, large.size_bytes());
  EXPECT_EQ(copied_bytes, frame.size_bytes() - large.size_bytes());
  ASSERT_TRUE(decoder.complete());
  EXPECT_TRUE(bit_equal(decoder.take().body, message.body));
}

TEST(GrpcCopies, SlicesKeepTheTensorAliveAndLetItGo) {
  Tensor tensor = float_tensor(10'000);
  const std::weak_ptr<const void> memory = tensor.owner();
  {
    std::deque<::grpc::ByteBuffer> chunks;
    {
      wire::Message message;
      message.body = std::exchange(tensor, Tensor());
      auto frame = must(wire::encode_frame(message));
      chunks = to_chunks(frame, kChunk);
    }
    EXPECT_FALSE(memory.expired());
  }
  EXPECT_TRUE(memory.expired());
}

}  // namespace
}  // namespace pareto::transport::grpc
