#include "coordinator/cluster/call_result.h"

#include <grpcpp/support/status.h>

#include <string>
#include <string_view>

#include "coordinator/cluster/control_address.h"
#include "core/base/printable.h"
#include "core/control/status_code.h"

namespace pareto::cluster {
namespace {

constexpr std::size_t kLongestMessage = 2000;

/// Returns "Connection reset by peer" of "recvmsg:Connection reset by peer", and anything else as
/// it is.
std::string_view without_call(std::string_view said) {
  for (const std::string_view call : {"recvmsg:", "sendmsg:"}) {
    if (said.starts_with(call)) return said.substr(call.size());
  }
  return said;
}

/// Returns "Connection refused" of gRPC's "failed to connect to all addresses; last error:
/// UNKNOWN: ipv4:…: Failed to connect to remote host: Connection refused".
std::string reason_of(const grpc::Status& status) {
  const std::string& all = status.error_message();
  const std::size_t colon = all.rfind(": ");
  const std::string last = colon == std::string::npos ? all : all.substr(colon + 2);
  return printable(without_call(last), kLongestMessage);
}

/// Returns the daemon's own sentence, or one of ours if gRPC made one up.
std::string sentence_of(const grpc::Status& status) {
  const std::string& said = status.error_message();
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE &&
      said.starts_with("failed to connect")) {
    return fmt::format("no daemon answers ({})", reason_of(status));
  }
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE && without_call(said) != said) {
    return fmt::format("the connection to its daemon broke ({})", reason_of(status));
  }
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE && said == "Socket closed") {
    return "its daemon closed the connection";
  }
  // A server that shuts down says "Cancelling all calls" or, out of time, "CANCELLED".
  if (status.error_code() == grpc::StatusCode::CANCELLED &&
      (said.starts_with("CANCEL") || said.starts_with("Cancel"))) {
    return "the daemon ended the call: its session is over, or the daemon is ending";
  }
  return printable(said, kLongestMessage);
}

}  // namespace

Expected<> call_result(const grpc::Status& status, const DeviceConfig& config, const char* doing) {
  if (status.ok()) return {};
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: {}: it does not know this call: install the same version on both",
                name_and_address(config), doing);
  }
  return fail(control::error_code(status.error_code()), "{}: {}: {}", name_and_address(config),
              doing, sentence_of(status));
}

Expected<> first_call_result(const grpc::Status& status, const DeviceConfig& config,
                             std::chrono::milliseconds timeout) {
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    return fail(ErrorCode::kUnavailable,
                "{}: no daemon answers ({}): does paretod run there, on that port?",
                name_and_address(config), reason_of(status));
  }
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    return fail(ErrorCode::kTimeout,
                "{}: no answer within {} ms: is the device on, the address right, and no "
                "firewall between?",
                name_and_address(config), timeout.count());
  }
  return call_result(status, config, "connecting");
}

}  // namespace pareto::cluster
