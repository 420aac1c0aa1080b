#include "runtime/declared_types.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/torch/compat.h"
#include "runtime/torch/written_weights.h"

namespace pareto::runtime {
namespace {

using c10::IValue;
using c10::TypeKind;
using c10::TypePtr;

/// An attribute of a class, or a constant if there is no class.
struct DeclaredPlace {
  const c10::ClassType* owner = nullptr;
  std::size_t attribute = 0;
};

std::string name_of(const DeclaredPlace& place) {
  if (place.owner == nullptr) return "a constant of its code";
  return fmt::format("the attribute {} of {}", place.owner->getAttributeName(place.attribute),
                     place.owner->annotation_str());
}

std::string describe_briefly(const IValue& value) {
  if (value.isObject()) return "an object of " + value.toObjectRef().type()->annotation_str();
  if (value.isTuple()) {
    return fmt::format("a tuple of {}", value.toTupleRef().elements().size());
  }
  if (value.isList()) return "a list of " + value.toList().elementType()->annotation_str();
  return "a value of the kind " + value.tagKind();
}

bool holds_values(const IValue& value) {
  return value.isTuple() || value.isList() || value.isGenericDict() || value.isObject();
}

/// Returns whether a value that holds no others is of a type.
bool is_plain_of(const IValue& value, const c10::Type& type) {
  const auto is_of = [&](const TypePtr& choice) { return is_plain_of(value, *choice); };
  switch (type.kind()) {
    case TypeKind::AnyType:
      return true;
    case TypeKind::OptionalType:
      return value.isNone() || std::ranges::any_of(type.containedTypes(), is_of);
    case TypeKind::UnionType:
      return std::ranges::any_of(type.containedTypes(), is_of);
    case TypeKind::TensorType:
      return value.isTensor();
    case TypeKind::NumberType:
      return value.isScalar();
    case TypeKind::IntType:
    case TypeKind::ScalarTypeType:
    case TypeKind::LayoutType:
    case TypeKind::MemoryFormatType:
    case TypeKind::QSchemeType:
      return value.isInt();
    default:
      return value.type()->isSubtypeOf(type);
  }
}

/// Returns whether a container is of a type, as far as can be told without what it holds.
bool is_outwardly_of(const IValue& value, const c10::Type& type) {
  switch (type.kind()) {
    case TypeKind::AnyType:
      return true;
    case TypeKind::TupleType:
      return value.isTuple() &&
             value.toTupleRef().elements().size() == type.containedTypes().size();
    case TypeKind::ListType:
      return value.isList() && *value.toList().elementType() == *type.containedTypes()[0];
    case TypeKind::DictType:
      return value.isGenericDict() &&
             *value.toGenericDict().keyType() == *type.containedTypes()[0] &&
             *value.toGenericDict().valueType() == *type.containedTypes()[1];
    case TypeKind::ClassType:
    case TypeKind::InterfaceType:
      return value.isObject() && value.toObjectRef().type()->isSubtypeOf(type);
    default:
      return false;
  }
}

/// Compares values with types, and what they hold with what it should be.
class TypeComparison {
 public:
  Expected<> compare(const IValue& value, const TypePtr& type, const DeclaredPlace& place) {
    PARETO_TRY(take(value, type, place));
    while (!waiting_.empty()) {
      const Typed next = std::move(waiting_.back());
      waiting_.pop_back();
      PARETO_TRY(open(next));
    }
    return {};
  }

  /// Compares a constant of a graph. Each graph that has it makes a type of its own for it.
  Expected<> compare_constant(const IValue& value, const TypePtr& type) {
    if (holds_values(value)) {
      std::vector<TypePtr>& known = constants_[value.internalToPointer()];
      const auto is_same = [&](const TypePtr& other) { return *other == *type; };
      if (std::ranges::any_of(known, is_same)) return {};
      known.push_back(type);
    }
    return compare(value, type, {});
  }

 private:
  /// A container, and the type that it should have.
  struct Typed {
    IValue value;
    TypePtr type;
    DeclaredPlace place;
  };

  static tl::unexpected<Error> differs(const IValue& value, const c10::Type& type,
                                       const DeclaredPlace& place) {
    return fail(ErrorCode::kCorrupt, "{} is {}, but its type is {}", name_of(place),
                describe_briefly(value), type.annotation_str());
  }

  Expected<> take(const IValue& value, const TypePtr& type, const DeclaredPlace& place) {
    if (holds_values(value)) {
      const std::pair key(value.internalToPointer(), &*type);
      if (seen_.emplace(key, type).second) waiting_.push_back({value, type, place});
      return {};
    }
    if (is_plain_of(value, *type)) return {};
    return differs(value, *type, place);
  }

  Expected<> open(const Typed& container) {
    const auto& [value, type, place] = container;
    if (type->kind() == TypeKind::OptionalType || type->kind() == TypeKind::UnionType) {
      for (const TypePtr& choice : type->containedTypes()) {
        const bool nests =
            choice->kind() == TypeKind::OptionalType || choice->kind() == TypeKind::UnionType;
        if (nests || is_outwardly_of(value, *choice)) return take(value, choice, place);
      }
      return differs(value, *type, place);
    }
    if (!is_outwardly_of(value, *type)) return differs(value, *type, place);
    if (value.isObject()) return open_object(value.toObjectRef());
    if (value.isTuple()) return open_tuple(container);
    return value.isList() ? open_list(container) : open_dictionary(container);
  }

  Expected<> open_object(const c10::ivalue::Object& object) {
    const auto type = object.type();
    if (object.slots().size() < type->numAttributes()) {
      return fail(ErrorCode::kCorrupt, "an object of {} has {} of its {} attributes",
                  type->annotation_str(), object.slots().size(), type->numAttributes());
    }
    for (std::size_t i = 0; i < type->numAttributes(); ++i) {
      PARETO_TRY(take(object.slots()[i], type->getAttribute(i), {type.get(), i}));
    }
    return {};
  }

  Expected<> open_tuple(const Typed& tuple) {
    const auto& elements = tuple.value.toTupleRef().elements();
    const bool any = tuple.type->kind() == TypeKind::AnyType;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      PARETO_TRY(
          take(elements[i], any ? tuple.type : tuple.type->containedTypes()[i], tuple.place));
    }
    return {};
  }

  Expected<> open_list(const Typed& list) {
    const TypePtr type = list.value.toList().elementType();
    for (const IValue& element : list.value.toListRef()) {
      PARETO_TRY(take(element, type, list.place));
    }
    return {};
  }

  Expected<> open_dictionary(const Typed& dictionary) {
    const auto entries = dictionary.value.toGenericDict();
    for (const auto& entry : entries) {
      PARETO_TRY(take(entry.key(), entries.keyType(), dictionary.place));
      PARETO_TRY(take(entry.value(), entries.valueType(), dictionary.place));
    }
    return {};
  }

  std::vector<Typed> waiting_;
  std::map<const void*, std::vector<TypePtr>> constants_;
  /// Containers, which the module keeps, and the types that they were compared with.
  std::map<std::pair<const void*, const c10::Type*>, TypePtr> seen_;
};

}  // namespace

Expected<> check_declared_types(const torch::jit::Module& module) {
  TypeComparison comparison;
  PARETO_TRY(comparison.compare(module._ivalue(), module.type(), {}));
  Expected<> compared;
  for (torch::jit::Function* function : module._ivalue()->compilation_unit()->get_functions()) {
    auto* const code = torch::jit::tryToGraphFunction(*function);
    if (code == nullptr) continue;
    for_each_node(code->graph()->block(), [&](torch::jit::Node* node) {
      if (!compared || node->kind() != c10::prim::Constant) return;
      const auto value = torch::jit::toIValue(node->output());
      // A None keeps the type of what it stands in for.
      if (!value || value->isNone()) return;
      compared = comparison.compare_constant(*value, node->output()->type());
    });
  }
  return compared;
}

}  // namespace pareto::runtime
