#include "coordinator/data/synthetic.h"

#include <charconv>
#include <utility>
#include <vector>

namespace pareto::data {
namespace {

constexpr std::int64_t kMostClasses = 1'000'000;
constexpr std::int64_t kUsualClasses = 10;
/// A class's pattern has this many fields along each side.
constexpr std::int64_t kFields = 4;
constexpr float kPattern = 0.5F;

/// Returns a number that follows from the two, each bit as likely 0 as 1 (SplitMix64).
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a + (b + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
  z = (z ^ z >> 27) * 0x94d049bb133111ebU;
  return z ^ z >> 31;
}

/// Returns a number in [-1, 1).
float to_noise(std::uint64_t bits) {
  return static_cast<float>(bits >> 40) / static_cast<float>(1U << 23) - 1;
}

class Synthetic final : public DataSet {
 public:
  Synthetic(std::int64_t classes, const DataSetOptions& options)
      : classes_(classes),
        size_(options.samples),
        shape_(options.input_shape),
        patterns_(mixed(options.seed, 0)),
        samples_(mixed(options.seed, options.part == Part::kTrain ? 1 : 2)),
        title_(fmt::format("synthetic:{} ({}, seed {})", classes, to_string(options.part),
                           options.seed)) {}

  std::string title() const override { return title_; }
  std::int64_t size() const override { return size_; }
  std::int64_t classes() const override { return classes_; }
  const std::vector<std::string>& class_names() const override { return no_names_; }

  Expected<Sample> sample(std::int64_t index) const override {
    if (index < 0 || index >= size_) {
      return fail(ErrorCode::kInvalidArgument, "{}: no sample {} of {}", title_, index, size_);
    }
    const std::uint64_t own = mixed(samples_, static_cast<std::uint64_t>(index));
    const auto label = static_cast<std::int64_t>(own % static_cast<std::uint64_t>(classes_));
    const std::uint64_t pattern = mixed(patterns_, static_cast<std::uint64_t>(label));
    PARETO_ASSIGN(Tensor input, Tensor::allocate(DType::kFloat32, shape_));
    auto* const values = reinterpret_cast<float*>(input.mutable_bytes().data());
    const std::int64_t width = shape_.back();
    const std::int64_t height = shape_.size() > 1 ? shape_[shape_.size() - 2] : 1;
    const auto count = static_cast<std::int64_t>(input.size_bytes() / sizeof(float));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t column = i % width * kFields / width;
      const std::int64_t row = i / width % height * kFields / height;
      const std::int64_t plane = i / (width * height);
      const auto field = static_cast<std::uint64_t>((plane * kFields + row) * kFields + column);
      const float sign = mixed(pattern, field) % 2 == 0 ? kPattern : -kPattern;
      values[i] = sign + to_noise(mixed(own, static_cast<std::uint64_t>(i)));
    }
    return Sample{std::move(input), label};
  }

 private:
  const std::int64_t classes_;
  const std::int64_t size_;
  const Shape shape_;
  const std::uint64_t patterns_;
  const std::uint64_t samples_;
  const std::string title_;
  const std::vector<std::string> no_names_;
};

}  // namespace

Expected<std::unique_ptr<DataSet>> open_synthetic(const std::string& classes,
                                                  const DataSetOptions& options) {
  std::int64_t count = options.classes > 0 ? options.classes : kUsualClasses;
  if (!classes.empty()) {
    const char* const end = classes.data() + classes.size();
    const auto [at, status] = std::from_chars(classes.data(), end, count);
    if (status != std::errc() || at != end || count < 1 || count > kMostClasses) {
      return fail(ErrorCode::kInvalidArgument, "synthetic:{}: 1 to {} classes are possible",
                  classes, kMostClasses);
    }
  }
  if (options.classes > 0 && count > options.classes) {
    return fail(ErrorCode::kInvalidArgument, "synthetic:{}: the model tells {} apart", count,
                options.classes);
  }
  if (options.samples < 1) {
    return fail(ErrorCode::kInvalidArgument, "synthetic: at least 1 sample is needed, not {}",
                options.samples);
  }
  PARETO_ASSIGN(const std::int64_t elements, element_count(options.input_shape));
  if (options.input_shape.empty() || elements == 0) {
    return fail(ErrorCode::kInvalidArgument,
                "synthetic: made-up samples need a model that takes one tensor of a known shape");
  }
  return std::make_unique<Synthetic>(count, options);
}

}  // namespace pareto::data
