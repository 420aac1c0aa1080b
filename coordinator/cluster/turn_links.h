// The links of replicas as those of one pipeline: requests go to them in turns, and results come
// back in the order of the requests.
//
//   source ──request i──▶ source of replica i mod n ══▶ [stage] ══▶ its sink ──▶ sink
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/bounded_queue.h"
#include "core/transport/transport.h"

namespace pareto::cluster {

struct ReplicaLinks {
  /// Pipeline that messages to it name, in place of the one they named.
  std::uint64_t pipeline = 0;
  transport::Link* source = nullptr;
  transport::Link* sink = nullptr;
};

/// Two links that stand for those of all replicas.
///
/// Threads: source() and sink() as any other Link, both at once.
class TurnLinks {
 public:
  /// Takes turns between replicas, at least one; the links outlive it.
  explicit TurnLinks(std::vector<ReplicaLinks> replicas);
  ~TurnLinks();

  /// Returns the source, by which an end goes to all of them.
  transport::Link& source();
  /// Returns the link for results. A message that is received from a replica before anything was
  /// sent to it waits until something is.
  transport::Link& sink();

 private:
  class Source;
  class Sink;

  const std::vector<ReplicaLinks> replicas_;
  BoundedQueue<std::size_t>
      due_;  ///< replicas, in the order of requests whose results were not begun
  std::unique_ptr<Source> source_;
  std::unique_ptr<Sink> sink_;
};

}  // namespace pareto::cluster
