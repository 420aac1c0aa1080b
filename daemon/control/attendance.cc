#include "daemon/control/attendance.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/control/wire.h"

namespace pareto::daemon {
namespace {

Expected<SessionTable::Attendance> attendance_of(const control::v1::AttendRequest& request) {
  SessionTable::Attendance said;
  said.peers.assign(request.peers().begin(), request.peers().end());
  said.beats = request.beats();
  said.slowest = std::chrono::milliseconds(request.slowest_ms());
  if (request.has_use()) {
    PARETO_ASSIGN(said.use, control::from_wire(request.use()));
  }
  return said;
}

}  // namespace

Expected<std::uint64_t> begin_session(SessionTable& sessions, const Caller& caller,
                                      const tls::Credentials* credentials,
                                      std::function<void()> cancel) {
  PARETO_ASSIGN(const std::uint64_t session, sessions.begin(caller, std::move(cancel)));
  bool holds = false;
  const std::shared_ptr<void> unless_it_holds(nullptr, [&](void*) {
    if (!holds) sessions.end(session);
  });
  PARETO_TRY(check_holds(caller, credentials));
  holds = true;
  return session;
}

Expected<> attend(
    SessionTable& sessions, std::uint64_t session,
    grpc::ServerReaderWriter<control::v1::AttendReply, control::v1::AttendRequest>& stream) {
  control::v1::AttendRequest request;
  while (stream.Read(&request)) {
    PARETO_ASSIGN(SessionTable::Attendance said, attendance_of(request));
    PARETO_ASSIGN(const SessionTable::Turn turn,
                  sessions.attend(session, std::move(said), std::chrono::steady_clock::now()));
    control::v1::AttendReply reply;
    if (turn.granted) reply.set_session(session);
    for (const control::Holder& holder : turn.before) {
      *reply.add_holders() = control::to_wire(holder);
    }
    reply.set_term(turn.term);
    if (!stream.Write(reply)) break;
  }
  return {};
}

}  // namespace pareto::daemon
