// Links between processes of one machine: a tensor is copied once, into memory that both map, and
// read there. Addresses are names that live as long as their listener (abstract Unix sockets), in
// the network namespace they were made in.
#pragma once

#include <memory>

#include "core/transport/transport.h"

namespace pareto::transport::shm {

/// Makes the transport. Only processes of one user, or of root, talk to each other: a process that
/// shares memory could change a tensor while the other reads it.
std::unique_ptr<Transport> make_transport();

}  // namespace pareto::transport::shm
