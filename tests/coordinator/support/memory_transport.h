// Links that are a pair of queues: what the coordinator's tests deploy over.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "coordinator/cluster/transport_set.h"
#include "core/base/bounded_queue.h"
#include "core/transport/transport.h"

namespace pareto::test {

/// A transport whose links are queues in memory.
///
/// Threads: any.
class MemoryTransport final : public transport::Transport {
 public:
  std::string_view name() const override { return "memory"; }
  transport::Reach reach() const override { return transport::Reach::kProcess; }
  Expected<std::unique_ptr<transport::Listener>> listen(
      const std::string& address, const transport::LinkOptions& options) override;
  Expected<std::unique_ptr<transport::Link>> connect(
      const std::string& address, Deadline deadline,
      const transport::LinkOptions& options) override;
  /// Makes both ends of a link.
  static std::pair<std::unique_ptr<transport::Link>, std::unique_ptr<transport::Link>> pair();

  using Backlog = BoundedQueue<std::unique_ptr<transport::Link>>;

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Backlog>> listening_;
};

/// Makes a transport of any name that is this one, which outlives it.
cluster::TransportSet::Factory sharing(MemoryTransport& transport);

}  // namespace pareto::test
