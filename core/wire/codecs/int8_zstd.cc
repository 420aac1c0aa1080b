#include "core/wire/codecs/codecs.h"
#include "core/wire/codecs/quantise.h"
#include "core/wire/codecs/support.h"
#include "core/wire/codecs/zstandard.h"

namespace pareto::wire::codecs {
namespace {

class Int8ZstdCodec final : public Codec {
 public:
  std::string_view name() const override { return "int8+zstd"; }
  std::uint8_t number() const override { return 8; }
  bool lossless() const override { return false; }
  bool takes(DType dtype) const override { return int8()->takes(dtype); }

  Expected<Tensor> encode(const Tensor& tensor) const override {
    PARETO_ASSIGN(const Tensor quantised, int8()->encode(tensor));
    return compress_zstandard(quantised.bytes());
  }

  Expected<> decode(std::span<const std::byte> encoded, Tensor& into) const override {
    if (!takes(into.dtype())) {
      return fail(ErrorCode::kCorrupt, "{} does not make tensors of {}", name(),
                  to_string(into.dtype()));
    }
    PARETO_ASSIGN(Tensor quantised, allocate_bytes(kStepsBytes + element_count_of(into)));
    PARETO_TRY(decompress_zstandard(encoded, quantised.mutable_bytes()));
    return int8()->decode(quantised.bytes(), into);
  }
};

}  // namespace

const Codec* int8_zstd() {
  static const Int8ZstdCodec kCodec;
  return &kCodec;
}

}  // namespace pareto::wire::codecs
