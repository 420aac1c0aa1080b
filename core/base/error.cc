#include "core/base/error.h"

#include <array>

namespace pareto {
namespace {

constexpr std::array<std::pair<ErrorCode, std::string_view>, 9> kNames{{
    {ErrorCode::kInvalidArgument, "invalid_argument"},
    {ErrorCode::kNotFound, "not_found"},
    {ErrorCode::kCorrupt, "corrupt"},
    {ErrorCode::kUnavailable, "unavailable"},
    {ErrorCode::kClosed, "closed"},
    {ErrorCode::kTimeout, "timeout"},
    {ErrorCode::kExhausted, "exhausted"},
    {ErrorCode::kPermission, "permission"},
    {ErrorCode::kInternal, "internal"},
}};

}  // namespace

std::string_view to_string(ErrorCode code) {
  for (const auto& [candidate, name] : kNames) {
    if (candidate == code) return name;
  }
  return "internal";
}

ErrorCode error_code_from_string(std::string_view name) {
  for (const auto& [code, candidate] : kNames) {
    if (candidate == name) return code;
  }
  return ErrorCode::kInternal;
}

}  // namespace pareto
