// The links of replicas as those of one pipeline: requests go to them in turns, and results come back in the order of the requests.
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
  std::uint64_t pipeline = 0;  ///< what messages to it name, whatever they named
  transport::Link* source = nullptr;
  transport::Link* sink = nullptr;
};

/// Threads: source() and sink() as any other Link, both at once.
class TurnLinks {
 public:
  /// At least one; the links outlive it.
  explicit TurnLinks(std::vector<ReplicaLinks> replicas);
  ~TurnLinks();

  /// An end goes to all of them.
  transport::Link& source();
  /// What is received of one that has not been sent to waits for that.
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
