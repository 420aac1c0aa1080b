#include "core/wire/codecs/codecs.h"
#include "core/wire/codecs/quantise.h"
#include "core/wire/codecs/support.h"

namespace pareto::wire::codecs {
namespace {

class Int8Codec final : public Codec {
 public:
  std::string_view name() const override { return "int8"; }
  std::uint8_t number() const override { return 3; }
  bool lossless() const override { return false; }
  bool takes(DType dtype) const override { return dtype == DType::kFloat32; }

  Expected<Tensor> encode(const Tensor& tensor) const override {
    PARETO_TRY(check_takes(*this, tensor));
    const std::size_t count = element_count_of(tensor);
    const std::byte* const from = tensor.bytes().data();
    Range range;
    widen(range, true, from, count);
    const auto steps = steps_over(range);
    if (!steps) return fail(ErrorCode::kInvalidArgument, "{} takes finite numbers only", name());
    PARETO_ASSIGN(Tensor encoded, allocate_bytes(kStepsBytes + count));
    std::byte* const to = encoded.mutable_bytes().data();
    store_steps(*steps, to);
    quantise(*steps, from, count, to + kStepsBytes);
    return encoded;
  }

  Expected<> decode(std::span<const std::byte> encoded, Tensor& into) const override {
    const std::size_t count = element_count_of(into);
    PARETO_TRY(check_encoded(*this, encoded, kStepsBytes + count, into));
    const auto steps = load_steps(encoded.data());
    if (!steps) return fail(ErrorCode::kCorrupt, "a scale that is not finite");
    dequantise(*steps, encoded.data() + kStepsBytes, count, into.mutable_bytes().data());
    return {};
  }
};

}  // namespace

const Codec* int8() {
  static const Int8Codec kCodec;
  return &kCodec;
}

}  // namespace pareto::wire::codecs
