#include "coordinator/load/output_error.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/wire/codec_error.h"

namespace pareto::load {
namespace {

struct Agreement {
  std::int64_t rows = 0;
  std::int64_t agreeing = 0;
};

std::size_t largest_class(const std::byte* row, std::size_t classes) {
  std::vector<float> scores(classes);
  std::memcpy(scores.data(), row, classes * sizeof(float));
  return static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
}

void compare_rows(const Tensor& expected, const Tensor& found, Agreement& agreement) {
  if (expected.dtype() != DType::kFloat32 || expected.shape().size() != 2) return;
  if (found.dtype() != expected.dtype() || found.shape() != expected.shape()) return;
  const auto classes = static_cast<std::size_t>(expected.shape()[1]);
  if (classes == 0) return;
  for (std::int64_t row = 0; row < expected.shape()[0]; ++row) {
    const std::size_t offset = static_cast<std::size_t>(row) * classes * sizeof(float);
    ++agreement.rows;
    agreement.agreeing += largest_class(expected.bytes().data() + offset, classes) ==
                          largest_class(found.bytes().data() + offset, classes);
  }
}

}  // namespace

results::OutputError output_error(const std::vector<Value>& expected,
                                  const std::vector<Value>& found) {
  const auto wanted = tensors_of(expected);
  const auto given = tensors_of(found);
  results::OutputError error;
  if (wanted.size() != given.size()) {
    error.max = error.mean = std::numeric_limits<double>::infinity();
    error.top1_agreement = 0;
    return error;
  }
  Agreement agreement;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const wire::CodecError one = wire::codec_error(*wanted[i], *given[i]);
    error.max = std::max(error.max, one.max);
    error.mean = std::max(error.mean, one.mean);
    compare_rows(*wanted[i], *given[i], agreement);
  }
  if (agreement.rows > 0) {
    error.top1_agreement =
        static_cast<double>(agreement.agreeing) / static_cast<double>(agreement.rows);
  }
  return error;
}

Expected<> check_outputs(const std::vector<Value>& expected, const std::vector<Value>& found) {
  const auto wanted = tensors_of(expected);
  const auto given = tensors_of(found);
  if (wanted.size() != given.size()) {
    return fail(ErrorCode::kInternal,
                "the pipeline returned {} tensors, the whole model returns {}", given.size(),
                wanted.size());
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::isfinite(wire::codec_error(*wanted[i], *given[i]).max)) continue;
    if (wanted[i]->dtype() != given[i]->dtype() || wanted[i]->shape() != given[i]->shape()) {
      return fail(ErrorCode::kInternal, "output {} is {}[{}], the whole model's is {}[{}]", i,
                  to_string(given[i]->dtype()), to_string(given[i]->shape()),
                  to_string(wanted[i]->dtype()), to_string(wanted[i]->shape()));
    }
    return fail(ErrorCode::kInternal,
                "output {} is infinitely far from the whole model's: not finite, other integers, "
                "or not zero if all of that is",
                i);
  }
  return {};
}

}  // namespace pareto::load
