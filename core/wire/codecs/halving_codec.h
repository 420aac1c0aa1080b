// Common part of fp16 and bf16, which turn every float32 into 16 bits. Internal to
// core/wire/codecs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/wire/codec.h"

namespace pareto::wire::codecs {

class HalvingCodec final : public Codec {
 public:
  /// A change of all elements, from their bytes to those of the other kind.
  using Change = void (*)(const std::byte* from, std::size_t count, std::byte* to);

  HalvingCodec(std::string_view name, std::uint8_t number, Change shorten, Change lengthen)
      : name_(name), number_(number), shorten_(shorten), lengthen_(lengthen) {}

  std::string_view name() const override { return name_; }
  std::uint8_t number() const override { return number_; }
  bool lossless() const override { return false; }
  bool takes(DType dtype) const override { return dtype == DType::kFloat32; }
  Expected<Tensor> encode(const Tensor& tensor) const override;
  Expected<> decode(std::span<const std::byte> encoded, Tensor& into) const override;

 private:
  const std::string_view name_;
  const std::uint8_t number_;
  const Change shorten_;
  const Change lengthen_;
};

}  // namespace pareto::wire::codecs
