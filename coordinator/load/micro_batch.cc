#include "coordinator/load/micro_batch.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

namespace pareto::load {
namespace {

std::int64_t rows_of(const Tensor& tensor) {
  return tensor.shape().empty() ? -1 : tensor.shape().front();
}

/// Rows [begin, begin + count), without a copy.
Expected<Tensor> rows(const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  Shape shape = tensor.shape();
  const std::size_t row_bytes = tensor.size_bytes() / static_cast<std::size_t>(shape.front());
  shape.front() = count;
  return Tensor::borrow(tensor.dtype(), std::move(shape),
                        tensor.bytes().data() + static_cast<std::size_t>(begin) * row_bytes,
                        tensor.owner(), tensor.layout());
}

/// Returns a copy of the tree with `change` applied to each tensor.
template <typename Change>
Expected<Value> map_tensors(const Value& value, const Change& change) {
  const auto items_of = [&](const std::vector<Value>& items) -> Expected<std::vector<Value>> {
    std::vector<Value> changed;
    for (const Value& item : items) {
      PARETO_ASSIGN(Value one, map_tensors(item, change));
      changed.push_back(std::move(one));
    }
    return changed;
  };
  if (const auto* tensor = value.get_if<Tensor>()) {
    PARETO_ASSIGN(Tensor changed, change(*tensor));
    return Value(std::move(changed));
  }
  if (const auto* tuple = value.get_if<Tuple>()) {
    PARETO_ASSIGN(std::vector<Value> items, items_of(tuple->items));
    return Value(Tuple{std::move(items)});
  }
  if (const auto* list = value.get_if<List>()) {
    PARETO_ASSIGN(std::vector<Value> items, items_of(list->items));
    return Value(List{std::move(items)});
  }
  if (const auto* dict = value.get_if<Dict>()) {
    Dict changed;
    for (const auto& [key, item] : dict->items) {
      PARETO_ASSIGN(Value one, map_tensors(item, change));
      changed.items.emplace_back(key, std::move(one));
    }
    return Value(std::move(changed));
  }
  return value;
}

/// Returns one tensor of the joined result, from its counterparts in order.
Expected<Tensor> join_tensors(const std::vector<const Tensor*>& parts,
                              const std::vector<std::int64_t>& sizes) {
  const Tensor& first = *parts.front();
  const auto same_row = [&](const Tensor& tensor) {
    return tensor.dtype() == first.dtype() && !tensor.shape().empty() && !first.shape().empty() &&
           std::equal(tensor.shape().begin() + 1, tensor.shape().end(), first.shape().begin() + 1,
                      first.shape().end());
  };
  bool carry_batch = true;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    carry_batch = carry_batch && rows_of(*parts[i]) == sizes[i] && same_row(*parts[i]);
  }
  if (!carry_batch) {
    if (std::ranges::all_of(parts, [&](const Tensor* part) { return bit_equal(*part, first); })) {
      return first;
    }
    return fail(ErrorCode::kInvalidArgument,
                "a result of shape {} does not carry the batch in its first dimension: this model "
                "cannot run in micro-batches",
                to_string(first.shape()));
  }
  Shape shape = first.shape();
  shape.front() = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  PARETO_ASSIGN(Tensor joined, Tensor::allocate(first.dtype(), std::move(shape)));
  std::byte* to = joined.mutable_bytes().data();
  for (const Tensor* part : parts) {
    PARETO_ASSIGN(const Tensor rows, row_major(*part));
    if (rows.size_bytes() > 0) std::memcpy(to, rows.bytes().data(), rows.size_bytes());
    to += rows.size_bytes();
  }
  return joined;
}

}  // namespace

std::vector<std::int64_t> micro_batch_sizes(const plan::Plan& plan) {
  std::vector<std::int64_t> sizes;
  if (!plan.is_cut()) return sizes;
  const std::int64_t most = plan.message_batch();
  for (std::int64_t left = plan.batch; left > 0; left -= most)
    sizes.push_back(std::min(left, most));
  return sizes;
}

Expected<std::vector<Value>> split_batch(const Value& request,
                                         const std::vector<std::int64_t>& sizes) {
  const std::int64_t batch = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  std::vector<Value> parts;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    PARETO_ASSIGN(Value part, map_tensors(request, [&](const Tensor& tensor) -> Expected<Tensor> {
                    if (rows_of(tensor) == batch) return rows(tensor, begin, size);
                    return fail(ErrorCode::kInvalidArgument,
                                "an input of shape {} does not carry the batch of {} in its first "
                                "dimension: it cannot be cut into micro-batches",
                                to_string(tensor.shape()), batch);
                  }));
    parts.push_back(std::move(part));
    begin += size;
  }
  return parts;
}

Expected<Value> join_batch(const std::vector<Value>& results,
                           const std::vector<std::int64_t>& sizes) {
  if (results.empty() || results.size() != sizes.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} results of {} micro-batches", results.size(),
                sizes.size());
  }
  std::vector<std::vector<const Tensor*>> tensors;
  // All but the tensors must be the same everywhere: compared with each tensor replaced by nothing.
  std::optional<Value> structure;
  for (const Value& result : results) {
    tensors.push_back(tensors_of(result));
    PARETO_ASSIGN(Value bare,
                  map_tensors(result, [](const Tensor&) -> Expected<Tensor> { return Tensor(); }));
    if (structure && !bit_equal(*structure, bare)) {
      return fail(ErrorCode::kInvalidArgument,
                  "the results of micro-batches differ in more than their tensors, {} and {}: this "
                  "model cannot run in micro-batches",
                  describe(results.front()), describe(result));
    }
    structure = std::move(bare);
  }
  std::size_t next = 0;
  return map_tensors(results.front(), [&](const Tensor&) -> Expected<Tensor> {
    std::vector<const Tensor*> parts;
    for (const auto& of_result : tensors) parts.push_back(of_result[next]);
    ++next;
    return join_tensors(parts, sizes);
  });
}

}  // namespace pareto::load
