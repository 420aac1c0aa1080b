#include "core/tensor/value_spec.h"

namespace pareto {
namespace {

using Kind = ValueSpec::Kind;

/// Joins two constant sizes seen at two batches to one linear function.
Expected<SymbolicDim> join_dim(std::int64_t a, std::int64_t batch_a, std::int64_t b,
                               std::int64_t batch_b) {
  if (a == b) return SymbolicDim{a, 0};
  const std::int64_t slope = batch_a == batch_b ? 0 : (b - a) / (batch_b - batch_a);
  const std::int64_t constant = a - slope * batch_a;
  if (slope <= 0 || constant < 0 || constant + slope * batch_b != b) {
    return fail(ErrorCode::kInvalidArgument,
                "a dimension of {} at batch {} and {} at batch {} does not grow with the batch", a,
                batch_a, b, batch_b);
  }
  return SymbolicDim{constant, slope};
}

/// An int that differs between two batches is most often a size: the batch itself, or a multiple.
void join_leaf(const ValueSpec& a, std::int64_t batch_a, const ValueSpec& b, std::int64_t batch_b,
               ValueSpec& joined) {
  const auto* first = a.leaf.get_if<std::int64_t>();
  const auto* second = b.leaf.get_if<std::int64_t>();
  if (first == nullptr || second == nullptr || batch_a == batch_b) return;
  const std::int64_t slope = (*second - *first) / (batch_b - batch_a);
  if (*first + slope * (batch_b - batch_a) != *second) return;
  joined.per_sample = slope;
  joined.leaf = *first - slope * batch_a;
}

Expected<ValueSpec> join(const ValueSpec& a, std::int64_t batch_a, const ValueSpec& b,
                         std::int64_t batch_b) {
  const bool same = a.kind == b.kind && a.items.size() == b.items.size() &&
                    a.tensor.dtype == b.tensor.dtype &&
                    a.tensor.dims.size() == b.tensor.dims.size();
  if (!same) {
    return fail(ErrorCode::kInvalidArgument, "{} at batch {} is {} at batch {}", a.describe(),
                batch_a, b.describe(), batch_b);
  }
  ValueSpec joined = a;
  if (a.kind == Kind::kLeaf) join_leaf(a, batch_a, b, batch_b, joined);
  for (std::size_t i = 0; i < a.tensor.dims.size(); ++i) {
    PARETO_ASSIGN(joined.tensor.dims[i],
                  join_dim(a.tensor.dims[i].constant, batch_a, b.tensor.dims[i].constant, batch_b));
  }
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    PARETO_ASSIGN(joined.items[i], join(a.items[i], batch_a, b.items[i], batch_b));
  }
  return joined;
}

Expected<> check(const ValueSpec& spec, const ValueSpec& seen, std::int64_t batch) {
  const bool same = spec.kind == seen.kind && spec.items.size() == seen.items.size() &&
                    spec.tensor.dtype == seen.tensor.dtype &&
                    spec.tensor.dims.size() == seen.tensor.dims.size();
  if (!same) {
    return fail(ErrorCode::kInvalidArgument, "{} is {} at batch {}", spec.describe(),
                seen.describe(), batch);
  }
  for (std::size_t i = 0; i < spec.tensor.dims.size(); ++i) {
    const std::int64_t expected = spec.tensor.dims[i].at(batch);
    const std::int64_t size = seen.tensor.dims[i].constant;
    if (size == expected) continue;
    return fail(ErrorCode::kInvalidArgument,
                "dimension {} of {} is {} at batch {}, and not {}: it is no multiple of the batch "
                "and a constant",
                i, spec.describe(), size, batch, expected);
  }
  const auto* first = spec.leaf.get_if<std::int64_t>();
  const auto* now = seen.leaf.get_if<std::int64_t>();
  if (first != nullptr && now != nullptr && spec.per_sample != 0 &&
      *first + spec.per_sample * batch != *now) {
    return fail(ErrorCode::kInvalidArgument,
                "an int is {} at batch {}, and not {}: it is no multiple of the batch and a "
                "constant",
                *now, batch, *first + spec.per_sample * batch);
  }
  for (std::size_t i = 0; i < spec.items.size(); ++i) {
    PARETO_TRY(check(spec.items[i], seen.items[i], batch));
  }
  return {};
}

}  // namespace

Expected<> check_spec(const ValueSpec& spec, const Value& seen, std::int64_t batch) {
  return check(spec, spec_of(seen), batch);
}

Expected<ValueSpec> join_specs(const Value& at_first, std::int64_t first_batch,
                               const Value& at_second, std::int64_t second_batch) {
  return join(spec_of(at_first), first_batch, spec_of(at_second), second_batch);
}

}  // namespace pareto
