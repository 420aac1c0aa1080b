// Frames as gRPC messages and back. Internal to core/transport/grpc.
//
//   EncodedFrame --slices that refer to the tensors--> ByteBuffer ~~~ gRPC ~~~ ByteBuffer
//       --one copy--> tensors' final memory
//
// On each side this process copies a byte at most once, in addition to the kernel. The sender
// copies only small tensors, which it joins with header and metadata. The receiver copies all out
// of the buffers that gRPC read them into.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <deque>
#include <vector>

#include "core/base/error.h"
#include "core/wire/frame.h"

namespace pareto::transport::grpc {

/// Returns a frame cut into messages of at most `chunk_bytes`. Large pieces are referred to, not
/// copied, and kept alive; small ones are copied once.
std::deque<::grpc::ByteBuffer> to_chunks(wire::EncodedFrame& frame, std::size_t chunk_bytes);

/// The bytes of a message, to be fed to a decoder bit by bit: the decoder copies them from gRPC's
/// own buffers to where they belong.
///
/// Threads: one owner.
class ChunkReader {
 public:
  /// Refills it; allowed only when empty(). Fails: kCorrupt.
  Expected<> refill(const ::grpc::ByteBuffer& chunk);
  bool empty() const { return slice_ == slices_.size(); }
  /// Feeds what is there, until the frame is complete or there is no more. Fails as the decoder
  /// does.
  Expected<> feed(wire::FrameDecoder& decoder);

 private:
  std::vector<::grpc::Slice> slices_;
  std::size_t slice_ = 0;   // the next one to feed …
  std::size_t offset_ = 0;  // … and how much of it was
};

}  // namespace pareto::transport::grpc
