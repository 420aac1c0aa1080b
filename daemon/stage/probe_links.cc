#include "daemon/stage/probe_links.h"

#include "daemon/stage/link_peers.h"

namespace pareto::daemon {

ProbeLinks::Use::Use(ProbeLinks& all, transport::Link& link) : all_(all), link_(link) {
  const std::lock_guard lock(all_.mutex_);
  if (all_.closed_) link_.close();
  all_.links_.insert(&link_);
}

ProbeLinks::Use::~Use() {
  const std::lock_guard lock(all_.mutex_);
  all_.links_.erase(&link_);
}

void ProbeLinks::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (transport::Link* const link : links_) link->close();
}

void ProbeLinks::close_refused(const tls::Credentials* own) {
  const std::lock_guard lock(mutex_);
  for (transport::Link* const link : links_) {
    if (!check_holds(own, link->identity())) link->close();
  }
}

}  // namespace pareto::daemon
