// Exceptions of LibTorch and oneDNN end here. Sees LibTorch: for sources of runtime and
// partitioner/model/emit only.
#pragma once

#include <new>
#include <string_view>

#include "core/base/error.h"
#include "runtime/torch/compat.h"

namespace pareto::runtime {

/// Returns the code that a caller can act on: kExhausted if memory ran out, else kInvalidArgument:
/// a graph refuses what it was given.
inline ErrorCode code_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return ErrorCode::kExhausted;
  const std::string_view what = error.what();
  const bool memory = what.find("can't allocate memory") != std::string_view::npos ||
                      what.find("out of memory") != std::string_view::npos;
  return memory ? ErrorCode::kExhausted : ErrorCode::kInvalidArgument;
}

/// Returns what `body` returns (an Expected), or "what: " and the first line of what it throws.
template <typename Body>
auto guarded(std::string_view what, Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception& error) {
    return fail(code_of(error), "{}: {}", what, first_line(error));
  }
}

}  // namespace pareto::runtime
