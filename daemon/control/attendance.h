// The call Attend of control.proto: a session, from its beginning to its end.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>

#include "core/base/error.h"
#include "daemon/control/session_table.h"
#include "proto/control.grpc.pb.h"

namespace pareto::daemon {

/// Begins a session for a caller whose certificate still holds: since it was judged, those whose
/// certificates do not may have been dismissed. Fails: as SessionTable::begin() and check_holds().
Expected<std::uint64_t> begin_session(SessionTable& sessions, const Caller& caller,
                                      const tls::Credentials* credentials,
                                      std::function<void()> cancel);

/// Answers each request of a coordinator by the number of its session, or by those that it waits
/// for, until the coordinator goes. Fails: as SessionTable::attend does; kInvalidArgument (a use
/// whose names are none).
Expected<> attend(
    SessionTable& sessions, std::uint64_t session,
    grpc::ServerReaderWriter<control::v1::AttendReply, control::v1::AttendRequest>& stream);

}  // namespace pareto::daemon
