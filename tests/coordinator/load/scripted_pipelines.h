// Pipelines that answer each request with itself, until the test loses them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "coordinator/load/lasting_stream.h"
#include "tests/coordinator/support/memory_transport.h"

namespace pareto::load {

inline constexpr std::uint64_t kNever = ~std::uint64_t{0};
inline constexpr std::chrono::milliseconds kOthers{100};

inline Error lost_device() { return {ErrorCode::kUnavailable, "stage 1 on b: no daemon answers"}; }

/// The script of a pipeline, by the number of each of its requests, from 0.
struct Script {
  std::uint64_t dies_at = kNever;        ///< its links close, and a device is lost
  std::uint64_t hangs_at = kNever;       ///< it takes that one and all later ones, and answers none
  std::int64_t poison = -1;              ///< fails like dies_at, at the request whose body says so
  std::optional<Error> find = {};        ///< answer of its devices when they are asked, if any
  std::optional<Error> open_error = {};  ///< it cannot be opened
  std::function<void()> on_first = {};   ///< called when its first request came
};

/// Passes everything on to a link of its own, and remembers if it was closed.
class ClosedLink final : public transport::Link {
 public:
  explicit ClosedLink(std::unique_ptr<transport::Link> link) : link_(std::move(link)) {}
  Expected<transport::Sent> send(const wire::Message& message, Deadline deadline) override {
    return link_->send(message, deadline);
  }
  Expected<transport::Received> receive(Deadline deadline) override {
    return link_->receive(deadline);
  }
  void close() override {
    closed_ = true;
    link_->close();
  }
  std::string peer() const override { return link_->peer(); }
  transport::PeerIdentity identity() const override { return link_->identity(); }
  bool is_closed() const { return closed_; }

 private:
  const std::unique_ptr<transport::Link> link_;
  std::atomic<bool> closed_{false};
};

/// A pipeline that answers each request with itself.
class EchoPipeline final : public StreamPipeline {
 public:
  EchoPipeline(const Script& script, std::function<void()> on_abandon, std::function<void()> on_end)
      : script_(script),
        on_abandon_(std::move(on_abandon)),
        on_end_(std::move(on_end)),
        serving_([this] { serve(); }) {}
  ~EchoPipeline() override {
    if (on_end_) on_end_();
    source_.close();
    out_.first->close();
  }

  transport::Link& source() override { return source_; }
  transport::Link& sink() override { return *out_.first; }
  std::uint64_t number() const override { return 1; }
  std::optional<Error> find_loss(std::chrono::milliseconds) override {
    if (dead_) return lost_device();
    // A stage fails when its link ends without a word.
    if (source_.is_closed()) {
      return Error{ErrorCode::kClosed, "stage 0 on a: upstream link: the peer closed the link"};
    }
    return script_.find;
  }
  void abandon() override {
    if (on_abandon_) on_abandon_();
  }
  void die() {
    dead_ = true;
    in_.second->close();
    out_.second->close();
  }
  /// Loses a device, which nobody sees until it is asked for.
  void die_unseen() { dead_ = true; }

 private:
  void serve() {
    while (auto received = in_.second->receive()) {
      const std::uint64_t request = received->message.request;
      if (request == 0 && script_.on_first) script_.on_first();
      const auto* body = received->message.body.get_if<Tuple>();
      const auto* number = body->items.empty() ? nullptr : body->items[0].get_if<std::int64_t>();
      const bool poisoned = number != nullptr && *number == script_.poison;
      // Others are with it, if they may be.
      if (poisoned) static_cast<void>(in_.second->receive(deadline_after(kOthers)));
      if (request >= script_.dies_at || poisoned) return die();
      if (request >= script_.hangs_at) continue;
      if (!out_.second->send(received->message)) return;
    }
  }

  using Ends = std::pair<std::unique_ptr<transport::Link>, std::unique_ptr<transport::Link>>;
  const Script script_;
  const std::function<void()> on_abandon_;
  const std::function<void()> on_end_;
  Ends in_ = test::MemoryTransport::pair();
  ClosedLink source_{std::move(in_.first)};
  Ends out_ = test::MemoryTransport::pair();
  std::atomic<bool> dead_{false};
  std::jthread serving_;
};

class ScriptedOpener final : public PipelineOpener {
 public:
  Expected<std::unique_ptr<StreamPipeline>> open() override {
    const Script script = attempts < scripts.size() ? scripts[attempts] : Script{};
    ++attempts;
    if (on_open) on_open();
    if (script.open_error) return tl::unexpected(*script.open_error);
    auto pipeline = std::make_unique<EchoPipeline>(script, on_abandon, on_end);
    last = pipeline.get();
    return pipeline;
  }
  void hurry() override {
    if (on_hurry) on_hurry();
  }
  std::vector<Script> scripts;  ///< those behind the last are well
  std::function<void()> on_abandon;
  std::function<void()> on_end;
  std::function<void()> on_open;
  std::function<void()> on_hurry;
  std::size_t attempts = 0;
  EchoPipeline* last = nullptr;
};

}  // namespace pareto::load
