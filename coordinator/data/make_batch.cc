#include <cstring>
#include <utility>

#include "coordinator/data/data_set.h"

namespace pareto::data {

Expected<Batch> make_batch(const DataSet& data, const std::vector<std::int64_t>& indices) {
  if (indices.empty()) return fail(ErrorCode::kInvalidArgument, "a batch of no samples");
  const auto count = static_cast<std::int64_t>(indices.size());
  PARETO_ASSIGN(Sample sample, data.sample(indices.front()));
  const Shape shape = sample.input.shape();
  Shape whole{count};
  whole.insert(whole.end(), shape.begin(), shape.end());
  PARETO_ASSIGN(Tensor inputs, Tensor::allocate(DType::kFloat32, std::move(whole)));
  PARETO_ASSIGN(Tensor labels, Tensor::allocate(DType::kInt64, {count}));
  const std::size_t bytes = sample.input.size_bytes();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (i > 0) {
      PARETO_ASSIGN(sample, data.sample(indices[i]));
    }
    if (sample.input.dtype() != DType::kFloat32 || sample.input.shape() != shape) {
      return fail(
          ErrorCode::kInvalidArgument,
          "{}: samples {} and {} differ in shape, {} and {}: a batch needs one shape (crop: "
          "in the file of --preprocess)",
          data.title(), indices.front(), indices[i], pareto::to_string(shape),
          pareto::to_string(sample.input.shape()));
    }
    PARETO_ASSIGN(const Tensor rows, row_major(sample.input));
    if (bytes > 0) {
      std::memcpy(inputs.mutable_bytes().data() + i * bytes, rows.bytes().data(), bytes);
    }
    std::memcpy(labels.mutable_bytes().data() + i * sizeof(std::int64_t), &sample.label,
                sizeof(std::int64_t));
  }
  return Batch{{Value(std::move(inputs))}, Value(std::move(labels)), count};
}

}  // namespace pareto::data
