#include "tests/coordinator/support/fake_workload.h"

#include <cstring>

namespace pareto::test {
namespace {

plan::BoundaryValue boundary_value(std::int64_t position) {
  plan::BoundaryValue value;
  value.name = "x" + std::to_string(position);
  value.spec.kind = ValueSpec::Kind::kTensor;
  value.spec.tensor.dims = {{0, 1}, {4, 0}};
  return value;
}

}  // namespace

Tensor FakeWorkload::weight_of(std::int64_t position) {
  Tensor tensor = Tensor::allocate(DType::kFloat32, {4}).value();
  std::memset(tensor.mutable_bytes().data(), static_cast<int>(position) + 1, kFakeWeightBytes);
  return tensor;
}

Expected<plan::Shard> FakeWorkload::shard(const plan::ShardOperators& operators) {
  plan::Shard shard;
  shard.model = "adder";
  shard.begin = operators.begin();
  shard.end = operators.end();
  for (const std::int64_t i : operators_in(operators.own)) {
    shard.weights.push_back(
        {"w" + std::to_string(i), sha256(weight_of(i).bytes()), DType::kFloat32, {4}, true});
  }
  shard.inputs = {boundary_value(shard.begin)};
  shard.outputs = {boundary_value(shard.end)};
  return shard;
}

Expected<Tensor> FakeWorkload::weight(const Digest& digest) {
  for (std::int64_t i = 0; i < kFakeOperators; ++i) {
    if (sha256(weight_of(i).bytes()) == digest) return weight_of(i);
  }
  return fail(ErrorCode::kNotFound, "no weight {}", digest.hex());
}

Expected<std::vector<Value>> FakeWorkload::example(std::int64_t batch, std::uint64_t) {
  PARETO_ASSIGN(Tensor tensor, Tensor::allocate(DType::kFloat32, {batch, 4}));
  std::memset(tensor.mutable_bytes().data(), 0, tensor.size_bytes());
  return std::vector<Value>{Value(std::move(tensor))};
}

double sum_of(const Value& value) {
  double sum = 0;
  for (const Tensor* tensor : tensors_of(value)) {
    for (std::size_t i = 0; i < tensor->size_bytes(); i += sizeof(float)) {
      float element = 0;
      std::memcpy(&element, tensor->bytes().data() + i, sizeof element);
      sum += element;
    }
  }
  return sum;
}

}  // namespace pareto::test
