// One end of a pair of queues.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "core/base/bounded_queue.h"
#include "core/transport/transport.h"

namespace pareto::transport::inproc {

/// A link within a process. Frames are measured as they would travel, so limits and byte counts
/// mean the same as on a network. The message itself changes hands, and its tensors are shared.
///
/// Threads: as Link says.
class InprocLink final : public Link {
 public:
  struct Item {
    wire::Message message;
    std::uint64_t wire_bytes = 0;
  };
  using Queue = BoundedQueue<Item>;
  using Pair = std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>>;

  /// Makes two ends that talk to each other: the connecting one, then the accepting one, each with
  /// its own limits.
  static Pair make_pair(const std::string& name, const LinkOptions& connecting,
                        const LinkOptions& accepting);

  InprocLink(std::shared_ptr<Queue> out, std::shared_ptr<Queue> in, std::string peer,
             const Limits& limits);
  ~InprocLink() override;

  Expected<Sent> send(const wire::Message& message, Deadline deadline) override;
  Expected<Received> receive(Deadline deadline) override;
  void close() override;
  std::string peer() const override { return peer_; }
  PeerIdentity identity() const override { return {"this process", true}; }

 private:
  const std::shared_ptr<Queue> out_;
  const std::shared_ptr<Queue> in_;
  const std::string peer_;
  const Limits limits_;
  std::atomic<bool> closed_ = false;
};

}  // namespace pareto::transport::inproc
