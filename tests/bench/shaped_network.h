// Two network namespaces of this machine with a wire between them as slow as is asked for: the
// calling thread in one, a wire peer in the other. They need root, and go with the thread and the
// peer.
#pragma once

#include <memory>
#include <string>

#include "coordinator/cluster/process.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/transport/transport.h"
#include "netem/network_namespace.h"

namespace pareto::bench {

/// A wire between two namespaces, with a peer at its other end.
///
/// Threads: one, made for it: that thread stays in its namespace.
class ShapedNetwork {
 public:
  /// Makes the namespaces, the wire and the peer. Fails: kPermission (no root, or no veth),
  /// kUnavailable (the peer).
  static Expected<std::unique_ptr<ShapedNetwork>> make();

  /// Shapes both directions, by tbf.
  Expected<> shape(int megabits_per_second);
  /// Connects to the peer, over tcp. See wire_peer.h for what it does.
  Expected<std::unique_ptr<transport::Link>> connect(const wire::Codec* codec = nullptr);
  /// Returns bytes a second, as a daemon measures its link to the next one.
  Expected<double> measured_rate();

 private:
  explicit ShapedNetwork(netem::NetworkNamespace there) : there_(std::move(there)) {}
  /// Starts the peer in the other namespace.
  Expected<> start_peer();
  Expected<> join();

  netem::NetworkNamespace there_;
  std::unique_ptr<TemporaryFolder> folder_;
  std::unique_ptr<cluster::ChildProcess> peer_;
  std::unique_ptr<transport::Transport> tcp_;
  std::string address_;
};

}  // namespace pareto::bench
