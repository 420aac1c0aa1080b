#include <utility>

#include "core/wire/codecs/codecs.h"
#include "core/wire/codecs/quantise.h"
#include "core/wire/codecs/support.h"

namespace pareto::wire::codecs {
namespace {

/// A tensor as images × channels × elements of one channel of one image. Row-major, these lie
/// together; channels-last, those of the same place in all channels do.
struct Planes {
  explicit Planes(const Tensor& tensor)
      : count(element_count_of(tensor)),
        side_by_side(count > 0 && tensor.layout() == MemoryLayout::kChannelsLast) {
    const Shape& shape = tensor.shape();
    if (shape.size() >= 2 && count > 0) channels = static_cast<std::size_t>(shape[1]);
    if (shape.size() >= 2 && count > 0) images = static_cast<std::size_t>(shape[0]);
    plane = count / (images * channels);
  }
  std::size_t table_bytes() const { return channels * kStepsBytes; }
  std::size_t first_of(std::size_t image, std::size_t channel) const {
    return (image * channels + channel) * plane;
  }
  /// Returns the number of rows if channels lie side by side.
  std::size_t rows() const { return images * plane; }

  std::size_t count = 0;
  std::size_t images = 1;
  std::size_t channels = 1;
  std::size_t plane = 0;
  bool side_by_side = false;
};

class Int8ChannelCodec final : public Codec {
 public:
  std::string_view name() const override { return "int8-channel"; }
  std::uint8_t number() const override { return 4; }
  bool lossless() const override { return false; }
  bool takes(DType dtype) const override { return dtype == DType::kFloat32; }

  Expected<Tensor> encode(const Tensor& tensor) const override {
    PARETO_TRY(check_takes(*this, tensor));
    const Planes planes(tensor);
    const std::byte* const from = tensor.bytes().data();
    PARETO_ASSIGN(Tensor encoded, allocate_bytes(planes.table_bytes() + planes.count));
    std::byte* const table = encoded.mutable_bytes().data();
    PARETO_ASSIGN(const ChannelSteps steps, steps_of(planes, from));
    for (std::size_t channel = 0; channel < planes.channels; ++channel) {
      store_steps(steps.of(channel), table + channel * kStepsBytes);
    }
    std::byte* const to = table + planes.table_bytes();
    if (planes.side_by_side) {
      quantise_rows(steps, from, planes.rows(), to);
      return encoded;
    }
    for (std::size_t channel = 0; channel < planes.channels; ++channel) {
      for (std::size_t image = 0; image < planes.images; ++image) {
        const std::size_t first = planes.first_of(image, channel);
        quantise(steps.of(channel), from + first * sizeof(float), planes.plane, to + first);
      }
    }
    return encoded;
  }

  Expected<> decode(std::span<const std::byte> encoded, Tensor& into) const override {
    const Planes planes(into);
    PARETO_TRY(check_encoded(*this, encoded, planes.table_bytes() + planes.count, into));
    ChannelSteps steps;
    for (std::size_t channel = 0; channel < planes.channels; ++channel) {
      const auto loaded = load_steps(encoded.data() + channel * kStepsBytes);
      if (!loaded) return fail(ErrorCode::kCorrupt, "a scale that is not finite");
      steps.add(*loaded);
    }
    const std::byte* const from = encoded.data() + planes.table_bytes();
    std::byte* const to = into.mutable_bytes().data();
    if (planes.side_by_side) {
      dequantise_rows(steps, from, planes.rows(), to);
      return {};
    }
    for (std::size_t channel = 0; channel < planes.channels; ++channel) {
      for (std::size_t image = 0; image < planes.images; ++image) {
        const std::size_t first = planes.first_of(image, channel);
        dequantise(steps.of(channel), from + first, planes.plane, to + first * sizeof(float));
      }
    }
    return {};
  }

 private:
  Expected<ChannelSteps> steps_of(const Planes& planes, const std::byte* from) const {
    ChannelSteps all;
    ChannelRanges side_by_side(planes.side_by_side ? planes.channels : 0);
    if (planes.side_by_side) widen_rows(side_by_side, from, planes.rows());
    for (std::size_t channel = 0; channel < planes.channels; ++channel) {
      const auto steps = steps_over(planes.side_by_side ? side_by_side.of(channel)
                                                        : range_of(planes, channel, from));
      if (!steps) return fail(ErrorCode::kInvalidArgument, "{} takes finite numbers only", name());
      all.add(*steps);
    }
    return all;
  }

  static Range range_of(const Planes& planes, std::size_t channel, const std::byte* from) {
    Range range;
    for (std::size_t image = 0; image < planes.images; ++image) {
      const std::byte* const plane = from + planes.first_of(image, channel) * sizeof(float);
      widen(range, image == 0, plane, planes.plane);
    }
    return range;
  }
};

}  // namespace

const Codec* int8_channel() {
  static const Int8ChannelCodec kCodec;
  return &kCodec;
}

}  // namespace pareto::wire::codecs
