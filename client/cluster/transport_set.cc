#include "client/cluster/transport_set.h"

namespace pareto::client {

Expected<transport::Transport*> TransportSet::named(const std::string& name) {
  std::unique_ptr<transport::Transport>& transport = made_[name];
  if (!transport) {
    PARETO_ASSIGN(transport, make_(name));
  }
  return transport.get();
}

}  // namespace pareto::client
