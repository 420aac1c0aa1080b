#include "runtime/torch/convert.h"

#include <memory>
#include <utility>

namespace pareto::runtime {
namespace {

constexpr int kMaxDepth = 64;

/// Returns what stands for a tensor.
using ConvertTensor = Expected<Tensor> (*)(const at::Tensor& tensor);

Expected<Value> convert(const c10::IValue& value, ConvertTensor tensor, int depth);

MemoryLayout layout_of(const at::Tensor& tensor) {
  const bool channels_last = tensor.layout() == c10::kStrided && tensor.dim() == 4 &&
                             !tensor.is_contiguous() &&
                             tensor.is_contiguous(at::MemoryFormat::ChannelsLast);
  return channels_last ? MemoryLayout::kChannelsLast : MemoryLayout::kRowMajor;
}

at::MemoryFormat format_of(MemoryLayout layout) {
  return layout == MemoryLayout::kChannelsLast ? at::MemoryFormat::ChannelsLast
                                               : at::MemoryFormat::Contiguous;
}

/// Returns the dtype of a tensor that may cross a boundary.
Expected<DType> crossing_dtype(const at::Tensor& tensor) {
  const auto dtype = from_scalar_type(tensor.scalar_type());
  if (!dtype || tensor.layout() != c10::kStrided || tensor.is_meta()) {
    return fail(ErrorCode::kInvalidArgument, "a tensor of type {} cannot cross a boundary",
                tensor.toString());
  }
  return *dtype;
}

/// Returns the tensor in that layout; the same bytes if it lies so already.
Expected<Tensor> share(const at::Tensor& tensor, MemoryLayout layout) {
  PARETO_ASSIGN(const DType dtype, crossing_dtype(tensor));
  try {
    const auto dense = std::make_shared<const at::Tensor>(
        tensor.detach().cpu().resolve_conj().resolve_neg().contiguous(format_of(layout)));
    return Tensor::borrow(dtype, dense->sizes().vec(),
                          static_cast<const std::byte*>(dense->data_ptr()), dense, layout);
  } catch (const c10::Error& error) {
    return fail(ErrorCode::kExhausted, "copying a tensor: {}", error.what_without_backtrace());
  }
}

Expected<Tensor> share_as_it_lies(const at::Tensor& tensor) {
  return share(tensor, layout_of(tensor));
}

Expected<Tensor> shape_alone(const at::Tensor& tensor) {
  PARETO_ASSIGN(const DType dtype, crossing_dtype(tensor));
  return Tensor::borrow(dtype, tensor.sizes().vec(), nullptr, nullptr);
}

template <typename Items>
Expected<std::vector<Value>> convert_all(const Items& items, ConvertTensor tensor, int depth) {
  std::vector<Value> values;
  values.reserve(items.size());
  for (const c10::IValue& item : items) {
    PARETO_ASSIGN(Value converted, convert(item, tensor, depth));
    values.push_back(std::move(converted));
  }
  return values;
}

Expected<Value> convert_dict(const c10::IValue& value, ConvertTensor tensor, int depth) {
  Dict dict;
  for (const auto& entry : value.toGenericDict()) {
    PARETO_ASSIGN(Value key, convert(entry.key(), tensor, depth));
    PARETO_ASSIGN(Value item, convert(entry.value(), tensor, depth));
    dict.items.emplace_back(std::move(key), std::move(item));
  }
  return Value(std::move(dict));
}

Expected<Value> convert(const c10::IValue& value, ConvertTensor tensor, int depth) {
  if (depth > kMaxDepth) return fail(ErrorCode::kInvalidArgument, "a value nested too deeply");
  if (value.isNone()) return Value(None{});
  if (value.isTensor()) {
    if (!value.toTensor().defined()) return Value(Uninitialized{});
    return tensor(value.toTensor()).map([](Tensor&& converted) {
      return Value(std::move(converted));
    });
  }
  if (value.isBool()) return Value(value.toBool());
  if (value.isInt()) return Value(value.toInt());
  if (value.isDouble()) return Value(value.toDouble());
  if (value.isString()) return Value(value.toStringRef());
  if (value.isList()) {
    PARETO_ASSIGN(auto items, convert_all(value.toListRef(), tensor, depth + 1));
    return Value(List{std::move(items)});
  }
  if (value.isTuple()) {
    PARETO_ASSIGN(auto items, convert_all(value.toTupleRef().elements(), tensor, depth + 1));
    return Value(Tuple{std::move(items)});
  }
  if (value.isGenericDict()) return convert_dict(value, tensor, depth + 1);
  if (value.tagKind() == "Uninitialized") return Value(Uninitialized{});
  return fail(ErrorCode::kInvalidArgument, "a value of type {} cannot cross a boundary",
              value.tagKind());
}

c10::TypePtr without_optional(const c10::TypePtr& type) {
  if (const auto optional = type->cast<c10::OptionalType>()) return optional->getElementType();
  return type;
}

c10::TypePtr element_type(const c10::TypePtr& type) {
  const auto list = without_optional(type)->cast<c10::ListType>();
  TORCH_CHECK(list != nullptr, "a list stands where ", type->repr_str(), " is expected");
  return list->getElementType();
}

c10::IValue to_list(const List& list, const c10::TypePtr& type) {
  const c10::TypePtr element = element_type(type);
  c10::impl::GenericList items(element);
  items.reserve(list.items.size());
  for (const Value& item : list.items) items.push_back(to_ivalue(item, element));
  return items;
}

c10::IValue to_tuple(const Tuple& tuple, const c10::TypePtr& type) {
  const auto expected = without_optional(type)->cast<c10::TupleType>();
  TORCH_CHECK(expected != nullptr && expected->elements().size() == tuple.items.size(),
              "a tuple of ", tuple.items.size(), " stands where ", type->repr_str(),
              " is expected");
  std::vector<c10::IValue> items;
  for (std::size_t i = 0; i < tuple.items.size(); ++i) {
    items.push_back(to_ivalue(tuple.items[i], expected->elements()[i]));
  }
  // A named tuple keeps its name only through its type.
  if (expected->name()) return c10::ivalue::Tuple::createNamed(std::move(items), expected);
  return c10::ivalue::Tuple::create(std::move(items));
}

c10::IValue to_dict(const Dict& dict, const c10::TypePtr& type) {
  const auto expected = without_optional(type)->cast<c10::DictType>();
  TORCH_CHECK(expected != nullptr, "a dict stands where ", type->repr_str(), " is expected");
  c10::impl::GenericDict items(expected->getKeyType(), expected->getValueType());
  for (const auto& [key, item] : dict.items) {
    items.insert(to_ivalue(key, expected->getKeyType()), to_ivalue(item, expected->getValueType()));
  }
  return items;
}

/// Returns a leaf against the kind of its expected type; types such as Scalar, Any or a union take
/// all.
c10::IValue checked(c10::IValue value, const c10::TypePtr& type, c10::TypeKind kind) {
  const c10::TypeKind expected = without_optional(type)->kind();
  bool fits = expected == kind;
  switch (expected) {
    case c10::TypeKind::TensorType:
    case c10::TypeKind::IntType:
    case c10::TypeKind::FloatType:
    case c10::TypeKind::BoolType:
    case c10::TypeKind::StringType:
    case c10::TypeKind::ListType:
    case c10::TypeKind::TupleType:
    case c10::TypeKind::DictType:
      break;
    default:
      fits = true;
  }
  TORCH_CHECK(fits, value.tagKind(), " stands where ", type->repr_str(), " is expected");
  return value;
}

struct ToIValue {
  const c10::TypePtr& type;

  c10::IValue operator()(None) const {
    if (type->kind() == c10::TypeKind::OptionalType) return {};
    return checked({}, type, c10::TypeKind::NoneType);
  }
  c10::IValue operator()(Uninitialized) const { return c10::IValue::uninitialized(); }
  c10::IValue operator()(bool v) const { return checked(v, type, c10::TypeKind::BoolType); }
  c10::IValue operator()(std::int64_t v) const { return checked(v, type, c10::TypeKind::IntType); }
  c10::IValue operator()(double v) const { return checked(v, type, c10::TypeKind::FloatType); }
  c10::IValue operator()(const std::string& v) const {
    return checked(v, type, c10::TypeKind::StringType);
  }
  c10::IValue operator()(const Tensor& v) const {
    return checked(to_torch(v), type, c10::TypeKind::TensorType);
  }
  c10::IValue operator()(const List& v) const { return to_list(v, type); }
  c10::IValue operator()(const Tuple& v) const { return to_tuple(v, type); }
  c10::IValue operator()(const Dict& v) const { return to_dict(v, type); }
};

}  // namespace

std::optional<DType> from_scalar_type(c10::ScalarType type) {
  // DType is numbered as ScalarType.
  return dtype_from_number(static_cast<std::uint8_t>(type));
}

c10::ScalarType to_scalar_type(DType dtype) { return static_cast<c10::ScalarType>(dtype); }

Expected<Tensor> from_torch(const at::Tensor& tensor) {
  return share(tensor, MemoryLayout::kRowMajor);
}

at::Tensor to_torch(const Tensor& tensor) {
  const auto options = at::TensorOptions().dtype(to_scalar_type(tensor.dtype()));
  if (tensor.size_bytes() == 0) return at::empty(tensor.shape(), options);
  void* const bytes = const_cast<std::byte*>(tensor.bytes().data());
  const auto let_go = [owner = tensor.owner()](void*) {};
  if (tensor.layout() == MemoryLayout::kRowMajor) {
    return at::from_blob(bytes, tensor.shape(), let_go, options);
  }
  const auto strides = c10::get_channels_last_strides_2d(tensor.shape());
  return at::from_blob(bytes, tensor.shape(), strides, let_go, options);
}

Expected<Value> from_ivalue(const c10::IValue& value) {
  return convert(value, &share_as_it_lies, 0);
}

Expected<Value> without_bytes(const c10::IValue& value) { return convert(value, &shape_alone, 0); }

c10::IValue to_ivalue(const Value& value, const c10::TypePtr& type) {
  return std::visit(ToIValue{type}, value.storage());
}

}  // namespace pareto::runtime
