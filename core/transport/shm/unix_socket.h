// Abstract Unix sockets that carry packets. Internal to core/transport/shm.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/socket.h"

namespace pareto::transport::shm {

/// Opens a socket that listens and does not block. "" and "auto" pick a name nobody can guess,
/// which `name` becomes. Fails: kPermission (in use), kInvalidArgument (too long), kExhausted.
Expected<FileDescriptor> listen_unix(std::string& name);
/// Opens a connected socket that does not block. The listener may not have accepted it yet. Fails:
/// kUnavailable (nobody listens), kPermission (somebody else's process does), kInvalidArgument,
/// kTimeout.
Expected<FileDescriptor> connect_unix(const std::string& name, Deadline deadline);
/// Returns the user of the other end's process, which the kernel noted when it was connected. No
/// value means that the kernel does not say.
std::optional<std::uint32_t> user_of(const FileDescriptor& socket);
/// Returns whether the other end's process is ours: of the same user, or of root.
bool is_ours(const FileDescriptor& socket);

}  // namespace pareto::transport::shm
