#include "core/wire/codecs/halving_codec.h"

#include "core/wire/codecs/support.h"

namespace pareto::wire::codecs {

Expected<Tensor> HalvingCodec::encode(const Tensor& tensor) const {
  PARETO_TRY(check_takes(*this, tensor));
  const std::size_t count = element_count_of(tensor);
  PARETO_ASSIGN(Tensor encoded, allocate_bytes(2 * count));
  shorten_(tensor.bytes().data(), count, encoded.mutable_bytes().data());
  return encoded;
}

Expected<> HalvingCodec::decode(std::span<const std::byte> encoded, Tensor& into) const {
  const std::size_t count = element_count_of(into);
  PARETO_TRY(check_encoded(*this, encoded, 2 * count, into));
  lengthen_(encoded.data(), count, into.mutable_bytes().data());
  return {};
}

}  // namespace pareto::wire::codecs
