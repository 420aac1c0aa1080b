#include "core/tensor/value_spec.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "core/tensor/describe_spec.h"

namespace pareto {
namespace {

using Kind = ValueSpec::Kind;

ValueSpec spec_of_tensor(const Tensor& tensor) {
  ValueSpec spec;
  spec.kind = Kind::kTensor;
  spec.tensor.dtype = tensor.dtype();
  for (const std::int64_t size : tensor.shape()) spec.tensor.dims.push_back({size, 0});
  return spec;
}

ValueSpec container(Kind kind, const std::vector<Value>& items) {
  ValueSpec spec;
  spec.kind = kind;
  for (const Value& item : items) spec.items.push_back(spec_of(item));
  return spec;
}

std::string describe_dim(const SymbolicDim& dim) {
  if (dim.per_sample == 0) return std::to_string(dim.constant);
  const std::string batch = dim.per_sample == 1 ? "B" : fmt::format("{}B", dim.per_sample);
  return dim.constant == 0 ? batch : fmt::format("{}+{}", batch, dim.constant);
}

std::string describe_tensor(const TensorSpec& tensor, const DimensionText& text,
                            std::size_t& dimension) {
  std::vector<std::string> sizes;
  for (const SymbolicDim& dim : tensor.dims) {
    std::string named = text ? text(dimension) : std::string();
    ++dimension;
    sizes.push_back(named.empty() ? describe_dim(dim) : std::move(named));
  }
  return fmt::format("{}[{}]", pareto::to_string(tensor.dtype), fmt::join(sizes, "x"));
}

std::string describe_leaf(const Value& leaf) {
  if (leaf.is<None>()) return "None";
  if (leaf.is<Uninitialized>()) return "uninitialized";
  if (leaf.is<bool>()) return "bool";
  if (leaf.is<std::int64_t>()) return "int";
  if (leaf.is<double>()) return "float";
  return "string";
}

/// Describes a spec whose first dimension has that number, and counts on.
std::string describe_from(const ValueSpec& spec, const DimensionText& text,
                          std::size_t& dimension) {
  if (spec.kind == Kind::kTensor) return describe_tensor(spec.tensor, text, dimension);
  if (spec.kind == Kind::kLeaf) return describe_leaf(spec.leaf);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < spec.items.size(); ++i) {
    const std::string item = describe_from(spec.items[i], text, dimension);
    parts.push_back(spec.kind == Kind::kDict ? pareto::describe(spec.keys[i]) + ": " + item : item);
  }
  const std::string_view name = spec.kind == Kind::kList    ? "List"
                                : spec.kind == Kind::kTuple ? "Tuple"
                                                            : "Dict";
  return fmt::format("{}[{}]", name, fmt::join(parts, ", "));
}

void collect_tensors(const ValueSpec& spec, std::vector<TensorSpec>& out) {
  if (spec.kind == Kind::kTensor) out.push_back(spec.tensor);
  for (const ValueSpec& item : spec.items) collect_tensors(item, out);
}

}  // namespace

std::optional<IntegerRange> limits_of(DType dtype) {
  const auto of = []<typename Element>(Element) {
    return IntegerRange{std::numeric_limits<Element>::min(), std::numeric_limits<Element>::max()};
  };
  switch (dtype) {
    case DType::kUInt8:
      return of(std::uint8_t{});
    case DType::kInt8:
      return of(std::int8_t{});
    case DType::kInt16:
      return of(std::int16_t{});
    case DType::kInt32:
      return of(std::int32_t{});
    case DType::kInt64:
      return of(std::int64_t{});
    case DType::kBool:
      return IntegerRange{0, 1};
    default:
      return std::nullopt;
  }
}

Shape TensorSpec::shape(std::int64_t batch) const {
  Shape shape;
  for (const SymbolicDim& dim : dims) shape.push_back(dim.at(batch));
  return shape;
}

Expected<std::uint64_t> TensorSpec::size_bytes(std::int64_t batch) const {
  PARETO_ASSIGN(const std::int64_t elements, element_count(shape(batch)));
  return static_cast<std::uint64_t>(elements) * size_of(dtype);
}

Expected<std::uint64_t> ValueSpec::size_bytes(std::int64_t batch) const {
  std::uint64_t bytes = 0;
  for (const TensorSpec& spec : tensors_of(*this)) {
    PARETO_ASSIGN(const std::uint64_t one, spec.size_bytes(batch));
    bytes += one;
  }
  return bytes;
}

std::string ValueSpec::describe() const { return pareto::describe(*this, {}); }

std::string describe(const ValueSpec& spec, const DimensionText& text) {
  std::size_t dimension = 0;
  return describe_from(spec, text, dimension);
}

std::vector<TensorSpec> tensors_of(const ValueSpec& spec) {
  std::vector<TensorSpec> tensors;
  collect_tensors(spec, tensors);
  return tensors;
}

ValueSpec spec_of(const Value& value) {
  if (const auto* tensor = value.get_if<Tensor>()) return spec_of_tensor(*tensor);
  if (const auto* list = value.get_if<List>()) return container(Kind::kList, list->items);
  if (const auto* tuple = value.get_if<Tuple>()) return container(Kind::kTuple, tuple->items);
  ValueSpec spec;
  if (const auto* dict = value.get_if<Dict>()) {
    spec.kind = Kind::kDict;
    for (const auto& [key, item] : dict->items) {
      spec.keys.push_back(key);
      spec.items.push_back(spec_of(item));
    }
    return spec;
  }
  spec.leaf = value;
  return spec;
}

}  // namespace pareto
