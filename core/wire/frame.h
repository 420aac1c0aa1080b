// Converts a Message to bytes and back. core/wire/FORMAT.md specifies the layout: a header of 64
// bytes, the metadata (timeline, tensor descriptors, value tree), the payload, and a trailer. The
// payload has the tensors' own bytes, each 64-byte aligned; the trailer has their checksum.
//   Message --FrameEncoder--> EncodedFrame, pieces for one scatter write
//   bytes --FrameDecoder--> Message
//
// Only the metadata is copied. An encoded frame points into the tensors, and a decoder hands out
// the tensors' final memory for the transport to read into. Only a tensor that travels by a codec
// (core/wire/codec.h) has other bytes on the way. Encoders and decoders keep their memory. A steady
// stream of messages without a codec takes nothing from the heap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/tensor_pool.h"
#include "core/wire/checksum.h"
#include "core/wire/codec.h"
#include "core/wire/message.h"

namespace pareto::wire {

class MetadataReader;
class MetadataWriter;

inline constexpr std::size_t kHeaderBytes = 64;
inline constexpr std::size_t kTrailerBytes = 8;
inline constexpr std::uint8_t kFrameVersion = 3;

/// The limits of what a frame may hold, checked before memory is allocated for it. Encoding checks
/// the same, so that no peer with equal limits refuses what was sent.
struct FrameLimits {
  /// Most bytes of a frame without the trailer. This also bounds the memory of its tensors, which
  /// is more if a codec made them smaller. The encoded bytes are held next to the tensors until
  /// they are decoded.
  std::uint64_t max_frame_bytes = std::uint64_t{1} << 30;
  std::uint64_t max_metadata_bytes = std::uint64_t{16} << 20;
  std::uint32_t max_timeline = 1024;  ///< entries
  std::uint32_t max_tensors = 65536;
  std::uint32_t max_rank = 64;        ///< dimensions of one tensor
  std::uint32_t max_values = 262144;  ///< nodes of the value tree
  /// Depth of the value tree; a body that is no container has depth 1.
  std::uint32_t max_depth = 64;
};

struct FrameOptions {
  /// If true, the checksum covers the tensors' bytes too. It always covers header and metadata.
  bool payload_checksum = true;
  /// Codec for the tensors of kValues and kPart that it takes and makes smaller. The others travel
  /// as they are, and so do all if this is null.
  const Codec* codec = nullptr;
};

/// A frame ready to be sent. Keeps the tensors it points into alive. Moved, never copied.
class EncodedFrame {
 public:
  EncodedFrame() = default;
  EncodedFrame(EncodedFrame&&) = default;
  EncodedFrame& operator=(EncodedFrame&&) = default;
  EncodedFrame(const EncodedFrame&) = delete;
  EncodedFrame& operator=(const EncodedFrame&) = delete;

  /// One run of bytes, never empty, and what keeps it alive: null where it is the frame itself (or
  /// for ever).
  struct Piece {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
  };
  /// Returns the pieces to be sent one after the other; the first is header and metadata.
  const std::vector<Piece>& pieces() const { return pieces_; }
  /// Returns the bytes to be sent behind them: the checksum of the payload, or nothing if there is
  /// none. The first call reads every tensor once, which may be done while the pieces are on their
  /// way already.
  std::span<const std::byte> trailer();
  /// Returns the size of the frame, trailer included.
  std::uint64_t size_bytes() const { return size_bytes_; }
  /// Returns the time that the codec took; 0 without one.
  Nanoseconds encoding() const { return encoding_; }

 private:
  friend class FrameEncoder;
  std::vector<std::byte> head_;
  std::vector<Piece> pieces_;
  std::vector<std::byte> trailer_;  // empty until asked for
  bool has_trailer_ = false;
  std::uint64_t size_bytes_ = 0;
  Nanoseconds encoding_{};
};

/// Encodes one message after another.
///
/// Threads: one owner.
class FrameEncoder {
 public:
  explicit FrameEncoder(const FrameOptions& options = {}, const FrameLimits& limits = {});
  ~FrameEncoder();
  FrameEncoder(const FrameEncoder&) = delete;
  FrameEncoder& operator=(const FrameEncoder&) = delete;

  /// Makes a message's frame, with its tensors left in place. Fails: kExhausted (over a limit,
  /// which is named), kInvalidArgument (a kind that does not exist).
  Expected<EncodedFrame> encode(const Message& message);
  /// Takes back a frame that was sent. Lets go of its tensors, and makes the next frame in its
  /// memory.
  void reuse(EncodedFrame frame);
  /// Encodes frames without a checksum of their payload from now on.
  void leave_out_checksum() { options_.payload_checksum = false; }
  /// Encodes the tensors of later frames by a codec; null: they stay as they are.
  void use_codec(const Codec* codec) { options_.codec = codec; }

 private:
  Expected<> encode_into(EncodedFrame& frame, const Message& message);

  FrameOptions options_;
  const FrameLimits limits_;
  const std::unique_ptr<MetadataWriter> metadata_;
  EncodedFrame spare_;
};

/// Encodes one that stands alone. Fails: as FrameEncoder.
Expected<EncodedFrame> encode_frame(const Message& message, const FrameOptions& options = {},
                                    const FrameLimits& limits = {});

/// Decodes one frame after another from bytes as they come.
///
///   while (!decoder.complete()) {
///     n = decoder.next(pieces);
///     …read into them…
///     decoder.advance(bytes_read);
///   }
///   Message message = decoder.take();
///
/// After an error the stream has no known frame boundary: throw the decoder and the connection
/// away. Threads: one owner.
class FrameDecoder {
 public:
  explicit FrameDecoder(const FrameLimits& limits = {});
  ~FrameDecoder();
  FrameDecoder(const FrameDecoder&) = delete;
  FrameDecoder& operator=(const FrameDecoder&) = delete;

  /// Sets the limit in place of that of its limits. To be called between frames.
  void set_max_frame_bytes(std::uint64_t bytes);

  /// Fills in where the next bytes of the frame belong, in order: up to out.size() pieces (none of
  /// them empty). Returns how many. 0 only when complete(). The pieces never reach past the end of
  /// the frame.
  std::size_t next(std::span<std::span<std::byte>> out);
  /// Notes that the first `bytes` bytes of what next() gave were filled. Fails: kCorrupt,
  /// kExhausted.
  Expected<> advance(std::size_t bytes);
  /// Copies from a buffer instead; returns how many bytes belonged to this frame (fewer only when
  /// it is then complete).
  Expected<std::size_t> feed(std::span<const std::byte> bytes);

  /// Returns whether no byte of the frame has come yet.
  bool untouched() const { return received_ == 0; }
  bool complete() const { return phase_ == Phase::kComplete; }
  /// Returns the bytes of the frame that have come.
  std::uint64_t received_bytes() const { return received_; }
  /// Returns the time that codecs took for the frame last completed; 0 where all its tensors
  /// travelled as they are.
  Nanoseconds decoding() const { return decoding_; }
  /// Requires complete(). The decoder is then ready for the next frame, and uses the message's
  /// memory again once that has ended.
  Message take();

 private:
  enum class Phase { kHeader, kMetadata, kPayload, kComplete };
  enum class Part { kTensor, kPadding, kTrailer };
  struct Piece {
    std::span<std::byte> bytes;
    Part part = Part::kTensor;
  };
  /// A tensor that waits for the end of the payload to be decoded.
  struct Encoded {
    Tensor bytes;
    const Codec* codec = nullptr;
    Tensor into;  // shares its memory with those in the body
  };

  Expected<> accept_header();
  Expected<> accept_metadata();
  Expected<> lay_out_payload();
  Expected<> accept_payload(std::span<const std::byte> bytes, Part part);
  Expected<> finish_payload();
  Expected<> decode_tensors();

  FrameLimits limits_;
  const std::shared_ptr<MessagePool> messages_;
  const std::unique_ptr<MetadataReader> metadata_reader_;
  TensorPool tensors_;
  Phase phase_ = Phase::kHeader;
  std::uint64_t received_ = 0;
  std::array<std::byte, kHeaderBytes> header_{};
  std::vector<std::byte> metadata_;
  std::vector<std::byte> padding_;
  std::array<std::byte, kTrailerBytes> trailer_{};
  std::vector<Piece> pieces_;  // of the payload and the trailer
  std::vector<Encoded> encoded_;
  std::size_t piece_ = 0;   // the one being filled …
  std::size_t offset_ = 0;  // … and how much of it (or of the header or metadata) is
  // From the header, for the parts that follow it.
  std::uint64_t payload_bytes_ = 0;
  std::uint64_t metadata_checksum_ = 0;
  bool payload_summed_ = false;
  Checksum sum_;
  Message message_;
  Nanoseconds decoding_{};
};

/// Decodes a frame that lies in memory as a whole. Its tensors stay there where they lie at
/// multiples of 64, kept by `owner` (the others, and those that a codec made, are copied). Header
/// and metadata are read once, so that a peer who shares the memory may change them meanwhile.
/// `decoding`, where given: the time that codecs took. Fails: kCorrupt, kExhausted.
Expected<Message> borrow_frame(std::span<const std::byte> bytes,
                               const std::shared_ptr<const void>& owner,
                               const FrameLimits& limits = {}, Nanoseconds* decoding = nullptr);
/// Decodes the same, with every tensor copied.
Expected<Message> decode_frame(std::span<const std::byte> bytes, const FrameLimits& limits = {},
                               Nanoseconds* decoding = nullptr);

}  // namespace pareto::wire
