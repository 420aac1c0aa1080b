#include "coordinator/evaluation/sample_batches.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace pareto::evaluation {

std::vector<std::int64_t> evenly_spaced(std::int64_t size, std::int64_t count) {
  const std::int64_t taken = count < 1 || count > size ? size : count;
  std::vector<std::int64_t> samples(static_cast<std::size_t>(taken));
  // The middle of each of `taken` parts.
  for (std::int64_t i = 0; i < taken; ++i) {
    samples[static_cast<std::size_t>(i)] = (2 * i + 1) * size / (2 * taken);
  }
  return samples;
}

Expected<LabelledBatch> SampleBatches::read(std::size_t number) const {
  const std::size_t first = number * batch_;
  const std::size_t present = std::min(batch_, samples_.size() - first);
  std::vector<std::int64_t> indices(
      samples_.begin() + static_cast<std::ptrdiff_t>(first),
      samples_.begin() + static_cast<std::ptrdiff_t>(first + present));
  indices.resize(batch_, indices.back());
  PARETO_ASSIGN(data::Batch batch, data::make_batch(data_, indices));
  LabelledBatch labelled{std::move(batch.inputs), std::vector<std::int64_t>(present)};
  const Tensor* const labels = batch.labels.get_if<Tensor>();
  if (labels == nullptr || labels->size_bytes() < present * sizeof(std::int64_t)) {
    return fail(ErrorCode::kInternal, "{}: a batch without labels", data_.title());
  }
  std::memcpy(labelled.labels.data(), labels->bytes().data(), present * sizeof(std::int64_t));
  return labelled;
}

}  // namespace pareto::evaluation
