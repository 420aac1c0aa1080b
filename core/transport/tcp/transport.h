// Links over TCP sockets: a frame is one scatter write, and is read straight into its tensors'
// memory.
#pragma once

#include <memory>

#include "core/transport/transport.h"

namespace pareto::transport::tcp {

std::unique_ptr<Transport> make_transport();

}  // namespace pareto::transport::tcp
