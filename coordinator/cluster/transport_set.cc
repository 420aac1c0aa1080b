#include "coordinator/cluster/transport_set.h"

namespace pareto::cluster {

Expected<transport::Transport*> TransportSet::named(const std::string& name) {
  std::unique_ptr<transport::Transport>& transport = made_[name];
  if (!transport) {
    PARETO_ASSIGN(transport, make_(name));
  }
  return transport.get();
}

}  // namespace pareto::cluster
