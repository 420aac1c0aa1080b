#include "core/wire/codecs/codecs.h"
#include "core/wire/codecs/quantise.h"
#include "core/wire/codecs/support.h"

namespace pareto::wire::codecs {
namespace {

/// A tensor as images × channels × elements of one channel of one image, which lie together.
struct Layout {
  explicit Layout(const Tensor& tensor) : count(element_count_of(tensor)) {
    const Shape& shape = tensor.shape();
    if (shape.size() >= 2 && count > 0) channels = static_cast<std::size_t>(shape[1]);
    if (shape.size() >= 2 && count > 0) images = static_cast<std::size_t>(shape[0]);
    plane = count / (images * channels);
  }
  std::size_t first_of(std::size_t image, std::size_t channel) const {
    return (image * channels + channel) * plane;
  }

  std::size_t count = 0;
  std::size_t images = 1;
  std::size_t channels = 1;
  std::size_t plane = 0;
};

class Int8ChannelCodec final : public Codec {
 public:
  std::string_view name() const override { return "int8-channel"; }
  std::uint8_t number() const override { return 4; }
  bool lossless() const override { return false; }
  bool takes(DType dtype) const override { return dtype == DType::kFloat32; }

  Expected<Tensor> encode(const Tensor& tensor) const override {
    PARETO_TRY(check_takes(*this, tensor));
    const Layout layout(tensor);
    const std::size_t table_bytes = layout.channels * kStepsBytes;
    PARETO_ASSIGN(Tensor encoded, allocate_bytes(table_bytes + layout.count));
    const std::byte* const from = tensor.bytes().data();
    std::byte* const to = encoded.mutable_bytes().data();
    for (std::size_t channel = 0; channel < layout.channels; ++channel) {
      Range range;
      for (std::size_t image = 0; image < layout.images; ++image) {
        const std::byte* const plane = from + layout.first_of(image, channel) * sizeof(float);
        widen(range, image == 0, plane, layout.plane);
      }
      const auto steps = steps_over(range);
      if (!steps) return fail(ErrorCode::kInvalidArgument, "{} takes finite numbers only", name());
      store_steps(*steps, to + channel * kStepsBytes);
      for (std::size_t image = 0; image < layout.images; ++image) {
        const std::size_t first = layout.first_of(image, channel);
        quantise(*steps, from + first * sizeof(float), layout.plane, to + table_bytes + first);
      }
    }
    return encoded;
  }

  Expected<> decode(std::span<const std::byte> encoded, Tensor& into) const override {
    const Layout layout(into);
    const std::size_t table_bytes = layout.channels * kStepsBytes;
    PARETO_TRY(check_encoded(*this, encoded, table_bytes + layout.count, into));
    const std::byte* const from = encoded.data() + table_bytes;
    std::byte* const to = into.mutable_bytes().data();
    for (std::size_t channel = 0; channel < layout.channels; ++channel) {
      const auto steps = load_steps(encoded.data() + channel * kStepsBytes);
      if (!steps) return fail(ErrorCode::kCorrupt, "a scale that is not finite");
      for (std::size_t image = 0; image < layout.images; ++image) {
        const std::size_t first = layout.first_of(image, channel);
        dequantise(*steps, from + first, layout.plane, to + first * sizeof(float));
      }
    }
    return {};
  }
};

}  // namespace

const Codec* int8_channel() {
  static const Int8ChannelCodec kCodec;
  return &kCodec;
}

}  // namespace pareto::wire::codecs
