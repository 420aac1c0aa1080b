#include "core/transport/tcp/drain.h"

#include <sys/socket.h>

namespace pareto::transport::tcp {

void drain(const FileDescriptor& socket) {
  constexpr int kMostRounds = 64;
  for (int round = 0; round < kMostRounds; ++round) {
    if (::recv(socket.get(), nullptr, 1 << 20, MSG_TRUNC | MSG_DONTWAIT) <= 0) break;
  }
}

}  // namespace pareto::transport::tcp
