// Specs in words, whose dimensions somebody else names.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/tensor/value_spec.h"

namespace pareto {

/// Returns the text of a dimension, by its number among those of all tensors of a spec, depth
/// first; "" for that of ValueSpec::describe().
using DimensionText = std::function<std::string(std::size_t dimension)>;

/// Describes a spec as ValueSpec::describe() does, but for the dimensions that `text` names.
std::string describe(const ValueSpec& spec, const DimensionText& text);

}  // namespace pareto
