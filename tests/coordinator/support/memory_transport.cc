#include "tests/coordinator/support/memory_transport.h"

#include <utility>

namespace pareto::test {
namespace {

using transport::Link;
using transport::Received;
using transport::Sent;
using Queue = BoundedQueue<wire::Message>;

class MemoryLink final : public Link {
 public:
  MemoryLink(std::shared_ptr<Queue> in, std::shared_ptr<Queue> out)
      : in_(std::move(in)), out_(std::move(out)) {}
  ~MemoryLink() override { close_both(); }
  Expected<Sent> send(const wire::Message& message, Deadline deadline) override {
    PARETO_TRY(out_->push(message, deadline));
    return Sent{};
  }
  Expected<Received> receive(Deadline deadline) override {
    PARETO_ASSIGN(wire::Message message, in_->pop(deadline));
    return Received{std::move(message), Nanoseconds(100), 64, std::chrono::steady_clock::now()};
  }
  void close() override { close_both(); }
  std::string peer() const override { return "memory"; }
  transport::PeerIdentity identity() const override { return {peer()}; }

 private:
  void close_both() {
    in_->close();
    out_->close();
  }
  std::shared_ptr<Queue> in_;
  std::shared_ptr<Queue> out_;
};

class MemoryListener final : public transport::Listener {
 public:
  MemoryListener(std::string address, std::shared_ptr<MemoryTransport::Backlog> backlog)
      : address_(std::move(address)), backlog_(std::move(backlog)) {}
  std::string address() const override { return address_; }
  Expected<std::unique_ptr<Link>> accept(Deadline deadline) override {
    return backlog_->pop(deadline);
  }
  void close() override { backlog_->close(); }

 private:
  const std::string address_;
  std::shared_ptr<MemoryTransport::Backlog> backlog_;
};

/// Shares another one.
class SharedTransport final : public transport::Transport {
 public:
  explicit SharedTransport(transport::Transport& shared) : shared_(shared) {}
  std::string_view name() const override { return shared_.name(); }
  transport::Reach reach() const override { return transport::Reach::kProcess; }
  Expected<std::unique_ptr<transport::Listener>> listen(
      const std::string& address, const transport::LinkOptions& options) override {
    return shared_.listen(address, options);
  }
  Expected<std::unique_ptr<Link>> connect(const std::string& address, Deadline deadline,
                                          const transport::LinkOptions& options) override {
    return shared_.connect(address, deadline, options);
  }

 private:
  transport::Transport& shared_;
};

}  // namespace

Expected<std::unique_ptr<transport::Listener>> MemoryTransport::listen(
    const std::string&, const transport::LinkOptions&) {
  const std::lock_guard lock(mutex_);
  const std::string address = fmt::format("m{}:0", listening_.size());
  auto backlog = std::make_shared<Backlog>(16);
  listening_[address] = backlog;
  return std::make_unique<MemoryListener>(address, backlog);
}

Expected<std::unique_ptr<Link>> MemoryTransport::connect(const std::string& address,
                                                         Deadline deadline,
                                                         const transport::LinkOptions&) {
  const std::lock_guard lock(mutex_);
  const auto found = listening_.find(address);
  if (found == listening_.end()) return fail(ErrorCode::kUnavailable, "nobody at {}", address);
  auto ends = pair();
  if (!found->second->push(std::move(ends.second), deadline)) {
    return fail(ErrorCode::kUnavailable, "nobody at {} any more", address);
  }
  return std::move(ends.first);
}

std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>> MemoryTransport::pair() {
  auto there = std::make_shared<Queue>(1024);
  auto back = std::make_shared<Queue>(1024);
  return {std::make_unique<MemoryLink>(back, there), std::make_unique<MemoryLink>(there, back)};
}

cluster::TransportSet::Factory sharing(MemoryTransport& transport) {
  return [&transport](std::string_view) -> Expected<std::unique_ptr<transport::Transport>> {
    return std::make_unique<SharedTransport>(transport);
  };
}

}  // namespace pareto::test
