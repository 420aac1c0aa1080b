#include "runtime/torch/sound_casts.h"

#include <algorithm>
#include <vector>

namespace pareto::runtime {
namespace {

using c10::TypeKind;
using c10::TypePtr;

/// Structure of the values of a type, as their tags tell. No look at a plain value goes further.
enum class Structure { kPlain, kList, kTuple, kDictionary, kObject, kAnything };

Structure structure_of(const c10::Type& type) {
  switch (type.kind()) {
    case TypeKind::ListType:
    case TypeKind::AnyListType:
      return Structure::kList;
    case TypeKind::TupleType:
    case TypeKind::AnyTupleType:
      return Structure::kTuple;
    case TypeKind::DictType:
      return Structure::kDictionary;
    case TypeKind::ClassType:
    case TypeKind::InterfaceType:
    case TypeKind::AnyClassType:
      return Structure::kObject;
    case TypeKind::AnyType:
    case TypeKind::VarType:
    case TypeKind::DynamicType:
      return Structure::kAnything;
    default:
      return Structure::kPlain;
  }
}

/// Adds the types that a value of the type may have.
void add_choices(const TypePtr& type, std::vector<TypePtr>& choices) {
  if (type->kind() != TypeKind::OptionalType && type->kind() != TypeKind::UnionType) {
    choices.push_back(type);
    return;
  }
  for (const TypePtr& choice : type->containedTypes()) add_choices(choice, choices);
}

/// Returns whether a value of type `from` could be taken for one of type `to` that it is not.
bool passes_for(const c10::Type& from, const c10::Type& to) {
  const Structure wanted = structure_of(to);
  if (wanted == Structure::kPlain) return false;
  const Structure given = structure_of(from);
  return given == Structure::kAnything || given == wanted;
}

}  // namespace

Expected<> check_cast(const torch::jit::Node& cast) {
  const TypePtr from = cast.input()->type();
  const TypePtr to = cast.output()->type();
  std::vector<TypePtr> given;
  std::vector<TypePtr> wanted;
  add_choices(from, given);
  add_choices(to, wanted);
  for (const TypePtr& choice : given) {
    if (choice->isSubtypeOf(*to)) continue;
    const bool passes = std::ranges::any_of(
        wanted, [&](const TypePtr& type) { return passes_for(*choice, *type); });
    if (!passes) continue;
    return fail(ErrorCode::kPermission,
                "a value of the type {} is taken for a {}, and nothing checks it (unchecked_cast); "
                "give it one type in the model",
                from->annotation_str(), to->annotation_str());
  }
  return {};
}

}  // namespace pareto::runtime
