// Links between threads of one process: messages change hands, tensor bytes are shared and never
// copied.
#pragma once

#include <memory>

#include "core/transport/transport.h"

namespace pareto::transport::inproc {

std::unique_ptr<Transport> make_transport();

}  // namespace pareto::transport::inproc
