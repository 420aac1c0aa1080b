#include "core/control/status_code.h"

#include <grpcpp/grpcpp.h>

namespace pareto::control {
namespace {

static_assert(status_code(ErrorCode::kInvalidArgument) == grpc::StatusCode::INVALID_ARGUMENT);
static_assert(status_code(ErrorCode::kNotFound) == grpc::StatusCode::NOT_FOUND);
static_assert(status_code(ErrorCode::kCorrupt) == grpc::StatusCode::DATA_LOSS);
static_assert(status_code(ErrorCode::kUnavailable) == grpc::StatusCode::UNAVAILABLE);
static_assert(status_code(ErrorCode::kClosed) == grpc::StatusCode::CANCELLED);
static_assert(status_code(ErrorCode::kTimeout) == grpc::StatusCode::DEADLINE_EXCEEDED);
static_assert(status_code(ErrorCode::kExhausted) == grpc::StatusCode::RESOURCE_EXHAUSTED);
static_assert(status_code(ErrorCode::kPermission) == grpc::StatusCode::PERMISSION_DENIED);
static_assert(status_code(ErrorCode::kInternal) == grpc::StatusCode::INTERNAL);

// A status travels in HTTP/2 trailers, of which peers accept 8 KiB; percent-encoding may treble it.
constexpr std::size_t kMaxMessageBytes = 2000;

}  // namespace

grpc::Status to_status(const Expected<>& result) {
  if (result) return grpc::Status::OK;
  std::string message = result.error().message;
  if (message.size() > kMaxMessageBytes) {
    message.resize(kMaxMessageBytes);
    message += "…";
  }
  return {static_cast<grpc::StatusCode>(status_code(result.error().code)), message};
}

}  // namespace pareto::control
