// Common part of all calls of the control service.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <exception>
#include <new>

#include "core/base/error.h"
#include "core/control/status_code.h"
#include "daemon/control/failed_calls.h"

namespace pareto::daemon {

inline constexpr std::uint32_t kMaxTimeoutMs = 600'000;

/// Runs a call's body. No exception may reach gRPC: it would end the daemon.
template <typename Body>
grpc::Status answer(const char* call, FailedCalls& failed, Body body) {
  Expected<> result;
  try {
    result = body();
  } catch (const std::bad_alloc&) {
    result = fail(ErrorCode::kExhausted, "no memory");
  } catch (const std::exception& error) {
    result = fail(ErrorCode::kInternal, "{}: {}", call, error.what());
  }
  if (!result) failed.add(call, result.error(), std::chrono::steady_clock::now());
  return control::to_status(result);
}

}  // namespace pareto::daemon
