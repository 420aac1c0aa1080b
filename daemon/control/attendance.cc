#include "daemon/control/attendance.h"

#include <string>
#include <vector>

namespace pareto::daemon {

Expected<> attend(
    SessionTable& sessions, std::uint64_t session,
    grpc::ServerReaderWriter<control::v1::AttendReply, control::v1::AttendRequest>& stream) {
  control::v1::AttendReply reply;
  reply.set_session(session);
  control::v1::AttendRequest request;
  while (stream.Read(&request)) {
    PARETO_TRY(sessions.name_peers(
        session, std::vector<std::string>(request.peers().begin(), request.peers().end())));
    if (!stream.Write(reply)) break;
  }
  return {};
}

}  // namespace pareto::daemon
