#include "runtime/torch/map_tensors.h"

#include <utility>
#include <vector>

namespace pareto::runtime {
namespace {

/// Returns the type of a tuple; null for one without a name. A tuple makes up its type when asked,
/// which fails if it holds an undefined tensor.
c10::TupleTypePtr named_type(const c10::ivalue::Tuple& tuple) {
  try {
    const c10::TupleTypePtr type = tuple.type();
    return type->name() ? type : nullptr;
  } catch (const c10::Error&) {
    return nullptr;
  }
}

}  // namespace

c10::IValue map_tensors(const c10::IValue& value,
                        const std::function<at::Tensor(const at::Tensor&)>& change) {
  if (value.isTensor()) return value.toTensor().defined() ? change(value.toTensor()) : value;
  if (value.isList()) {
    const auto list = value.toList();
    c10::impl::GenericList mapped(list.elementType());
    mapped.reserve(list.size());
    for (const c10::IValue& item : value.toListRef()) mapped.push_back(map_tensors(item, change));
    return mapped;
  }
  if (value.isTuple()) {
    std::vector<c10::IValue> mapped;
    for (const c10::IValue& item : value.toTupleRef().elements()) {
      mapped.push_back(map_tensors(item, change));
    }
    if (const auto type = named_type(value.toTupleRef())) {
      return c10::ivalue::Tuple::createNamed(std::move(mapped), type);
    }
    return c10::ivalue::Tuple::create(std::move(mapped));
  }
  if (value.isGenericDict()) {
    const auto dict = value.toGenericDict();
    c10::impl::GenericDict mapped(dict.keyType(), dict.valueType());
    for (const auto& entry : dict) {
      mapped.insert(entry.key(), map_tensors(entry.value(), change));
    }
    return mapped;
  }
  return value;
}

bool holds_tensors(const c10::IValue& value) {
  bool found = false;
  value.visit([&](const c10::IValue& part) {
    found = found || part.isTensor();
    return found;
  });
  return found;
}

}  // namespace pareto::runtime
