#include "coordinator/train/micro_batches.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "coordinator/train/batch_order.h"

namespace pareto::train {
namespace {

Expected<Value> rows_of_value(const Value& value, std::int64_t begin, std::int64_t count) {
  const auto* tensor = value.get_if<Tensor>();
  if (tensor == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "a batch is of tensors, not {}", describe(value));
  }
  PARETO_ASSIGN(Tensor rows, rows_of(*tensor, begin, count));
  return Value(std::move(rows));
}

}  // namespace

Expected<Tensor> rows_of(const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  Shape shape = tensor.shape();
  if (shape.empty() || begin < 0 || count < 1 || begin > shape.front() - count) {
    return fail(ErrorCode::kInvalidArgument, "samples {} to {} of a tensor of shape {}", begin,
                begin + count - 1, to_string(shape));
  }
  PARETO_ASSIGN(const Tensor dense, row_major(tensor));
  const std::size_t sample_bytes = dense.size_bytes() / static_cast<std::size_t>(shape.front());
  shape.front() = count;
  const std::span<const std::byte> rows =
      dense.bytes().subspan(sample_bytes * static_cast<std::size_t>(begin),
                            sample_bytes * static_cast<std::size_t>(count));
  if (reinterpret_cast<std::uintptr_t>(rows.data()) % Tensor::kAlignment == 0) {
    // The copy of the tensor keeps the memory.
    return Tensor::borrow(dense.dtype(), std::move(shape), rows.data(),
                          std::make_shared<const Tensor>(dense));
  }
  PARETO_ASSIGN(Tensor copy, Tensor::allocate(dense.dtype(), std::move(shape)));
  std::ranges::copy(rows, copy.mutable_bytes().begin());
  return copy;
}

Expected<std::vector<MicroBatch>> micro_batches(const data::Batch& batch, std::int64_t parts) {
  std::vector<MicroBatch> micro;
  std::int64_t begin = 0;
  for (const std::int64_t samples : micro_batch_sizes(batch.samples, parts)) {
    MicroBatch& one = micro.emplace_back();
    one.samples = samples;
    for (const Value& input : batch.inputs) {
      PARETO_ASSIGN(Value rows, rows_of_value(input, begin, samples));
      one.inputs.push_back(std::move(rows));
    }
    PARETO_ASSIGN(one.target, rows_of_value(batch.labels, begin, samples));
    begin += samples;
  }
  return micro;
}

}  // namespace pareto::train
