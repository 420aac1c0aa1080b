#include "coordinator/train/scores.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

namespace pareto::train {
namespace {

template <typename Number>
double element_as(const std::byte* at) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return static_cast<double>(number);
}

/// bfloat16 is the upper half of a float.
double bf16_element(const std::byte* at) {
  std::uint16_t upper = 0;
  std::memcpy(&upper, at, sizeof upper);
  return std::bit_cast<float>(static_cast<std::uint32_t>(upper) << 16);
}

using ReadElement = double (*)(const std::byte*);

/// Returns how an element is read; null for a type that is not read.
ReadElement reader_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return element_as<float>;
    case DType::kFloat64:
      return element_as<double>;
    case DType::kBFloat16:
      return bf16_element;
    default:
      return nullptr;
  }
}

/// Adds one sample: log Σ exp(x) − x[label], and whether the label's output is the first largest.
void add_sample(const std::vector<double>& logits, std::size_t label, Scores& scores) {
  // NaN is larger than nothing: a model that returns it is not correct.
  const auto largest = std::ranges::max_element(logits);
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit - *largest);
  scores.cross_entropy += *largest + std::log(sum) - logits[label];
  ++scores.samples;
  if (largest - logits.begin() == static_cast<std::ptrdiff_t>(label)) ++scores.correct;
}

template <typename Bits>
bool any_nan(std::span<const std::byte> bytes, Bits exponent, Bits sign) {
  for (std::size_t i = 0; i + sizeof(Bits) <= bytes.size(); i += sizeof(Bits)) {
    Bits bits = 0;
    std::memcpy(&bits, bytes.data() + i, sizeof bits);
    if (static_cast<Bits>(bits & ~sign) > exponent) return true;
  }
  return false;
}

}  // namespace

Expected<> add_scores(const std::vector<Value>& outputs, const Value& labels, Scores& scores) {
  const Tensor* output = outputs.empty() ? nullptr : outputs.front().get_if<Tensor>();
  const Tensor* label = labels.get_if<Tensor>();
  if (label == nullptr || label->dtype() != DType::kInt64 || label->shape().size() != 1) {
    return fail(ErrorCode::kInvalidArgument, "labels are a tensor int64 of one dimension, not {}",
                describe(labels));
  }
  const ReadElement read = output == nullptr ? nullptr : reader_of(output->dtype());
  if (read == nullptr || output->shape().size() != 2 || output->shape()[1] < 1 ||
      output->shape()[0] != label->shape()[0]) {
    return fail(ErrorCode::kInvalidArgument,
                "accuracy needs one output of {} x classes, and the model returns {}",
                label->shape()[0], outputs.empty() ? "nothing" : describe(outputs.front()));
  }
  PARETO_ASSIGN(const Tensor dense, row_major(*output));
  const auto classes = static_cast<std::size_t>(dense.shape()[1]);
  const std::size_t width = size_of(dense.dtype());
  std::vector<double> logits(classes);
  for (std::size_t i = 0; i < static_cast<std::size_t>(dense.shape()[0]); ++i) {
    std::int64_t right = 0;
    std::memcpy(&right, label->bytes().data() + i * sizeof right, sizeof right);
    if (right < 0 || static_cast<std::size_t>(right) >= classes) {
      return fail(ErrorCode::kInvalidArgument, "label {} of a model with {} classes", right,
                  classes);
    }
    for (std::size_t c = 0; c < classes; ++c) {
      logits[c] = read(dense.bytes().data() + (i * classes + c) * width);
    }
    add_sample(logits, static_cast<std::size_t>(right), scores);
  }
  return {};
}

bool holds_nan(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kFloat32:
      return any_nan<std::uint32_t>(tensor.bytes(), 0x7f800000U, 0x80000000U);
    case DType::kFloat64:
      return any_nan<std::uint64_t>(tensor.bytes(), 0x7ff0000000000000U, 0x8000000000000000U);
    case DType::kBFloat16:
      return any_nan<std::uint16_t>(tensor.bytes(), 0x7f80U, 0x8000U);
    case DType::kFloat16:
      return any_nan<std::uint16_t>(tensor.bytes(), 0x7c00U, 0x8000U);
    default:
      return false;
  }
}

}  // namespace pareto::train
