#include "core/transport/grpc/quiet.h"

#include <grpc/support/log.h>
#include <grpcpp/version_info.h>

#include <cstdlib>
#include <string_view>

namespace pareto::transport {

void silence_grpc() {
  // In versions from 1.65 on it is read whenever a line is to be written.
  const bool asked_for = ::setenv("GRPC_VERBOSITY", "NONE", 0) == 0 &&
                         std::string_view(std::getenv("GRPC_VERBOSITY")) != "NONE";
#if GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR < 65
  if (!asked_for) ::gpr_set_log_function([](gpr_log_func_args* /*line*/) {});
#else
  static_cast<void>(asked_for);
#endif
}

}  // namespace pareto::transport
