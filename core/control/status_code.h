// Errors across the control service: an ErrorCode is a gRPC status code, one to one, and the
// message travels as it is.
#pragma once

#include <array>
#include <utility>

#include "core/base/error.h"

namespace grpc {
class Status;
}

namespace pareto::control {

/// The numbers of grpcpp/support/status_code_enum.h. They stand here so that this header needs none
/// of gRPC's.
inline constexpr std::array<std::pair<ErrorCode, int>, 9> kStatusCodes{{
    {ErrorCode::kInvalidArgument, 3},  // INVALID_ARGUMENT
    {ErrorCode::kNotFound, 5},         // NOT_FOUND
    {ErrorCode::kCorrupt, 15},         // DATA_LOSS
    {ErrorCode::kUnavailable, 14},     // UNAVAILABLE
    {ErrorCode::kClosed, 1},           // CANCELLED
    {ErrorCode::kTimeout, 4},          // DEADLINE_EXCEEDED
    {ErrorCode::kExhausted, 8},        // RESOURCE_EXHAUSTED
    {ErrorCode::kPermission, 7},       // PERMISSION_DENIED
    {ErrorCode::kInternal, 13},        // INTERNAL
}};

constexpr int status_code(ErrorCode code) {
  for (const auto& [candidate, number] : kStatusCodes) {
    if (candidate == code) return number;
  }
  return 13;
}

/// Returns the code of a status. gRPC itself answers two more: UNIMPLEMENTED (12) and
/// FAILED_PRECONDITION (9) are kInvalidArgument. Any other number is kInternal.
constexpr ErrorCode error_code(int status_number) {
  if (status_number == 12 || status_number == 9) return ErrorCode::kInvalidArgument;
  for (const auto& [code, number] : kStatusCodes) {
    if (number == status_number) return code;
  }
  return ErrorCode::kInternal;
}

/// Returns OK for a value. A message that is too long for HTTP/2 headers is cut. Threads: any.
grpc::Status to_status(const Expected<>& result);

}  // namespace pareto::control
