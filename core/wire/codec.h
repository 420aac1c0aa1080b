// Codecs: how a tensor's bytes travel if they do not travel as they are. A plug: one file in
// core/wire/codecs/, one line in builtin_codecs.cc, one suite over all
// (tests/core/wire/codec_test.cc).
//
//   Tensor --encode--> bytes ~~~ a frame (core/wire/FORMAT.md) ~~~ bytes
//       --decode--> Tensor of the same dtype and shape
//
// A frame names the codec of each of its tensors, so that the receiver needs no configuration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/tensor.h"

namespace pareto::wire {

/// A way to write tensors in fewer bytes, and to read them back.
///
/// Threads: any; a codec has no state.
class Codec {
 public:
  virtual ~Codec() = default;
  /// Returns "fp16", "zero-bitmap", "int8+zstd": the name in plans and on command lines.
  virtual std::string_view name() const = 0;
  /// Returns its byte in a frame, 1 … 255: never changed and never given to another.
  virtual std::uint8_t number() const = 0;
  /// Returns whether a decoded tensor has the bits of the original.
  virtual bool lossless() const = 0;
  /// Tensors of other dtypes travel as they are.
  virtual bool takes(DType dtype) const = 0;
  /// Returns one dimension of uint8 in memory of its own, 64-byte aligned; may be longer than the
  /// tensor. Fails: kInvalidArgument (a tensor this codec cannot carry, by its dtype, size or
  /// content: it has to travel as it is), kExhausted (no memory).
  virtual Expected<Tensor> encode(const Tensor& tensor) const = 0;
  /// Fills into.mutable_bytes(); `into` has the dtype and shape of the original. `encoded` is
  /// aligned like its elements, and nobody writes to it meanwhile. It may hold anything: what no
  /// encoder would have made is refused, or decoded to meaningless numbers.
  /// Fails: kCorrupt (`into` is then partly filled), kExhausted (no memory).
  virtual Expected<> decode(std::span<const std::byte> encoded, Tensor& into) const = 0;
};

/// Returns every codec of this build, in the order of their names in help texts. They live as long
/// as the process.
const std::vector<const Codec*>& builtin_codecs();
/// Returns the one of that name; null for "none", which leaves tensors as they are. Fails:
/// kNotFound, with the names there are.
Expected<const Codec*> find_codec(std::string_view name);
/// Returns the one with that number in a frame; null where there is none.
const Codec* codec_of_number(std::uint8_t number);

}  // namespace pareto::wire
