// A link of a stage that trains: values go one way, gradients the other.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "core/base/error.h"
#include "core/transport/ping.h"
#include "core/transport/transport.h"
#include "daemon/stage/stage_context.h"

namespace pareto::daemon {

/// A link whose pings are answered where they come in.
///
/// Threads: receive() from one; everything else from any.
class TrainingLink {
 public:
  /// `name` begins errors: "upstream link". It outlives this, and so does `context`.
  TrainingLink(const StageContext& context, const char* name) : context_(context), name_(name) {}

  /// Sets the link, once, before anybody else uses this.
  void set(std::unique_ptr<transport::Link> link) { link_ = std::move(link); }
  bool is_set() const { return link_ != nullptr; }
  transport::Link& link() { return *link_; }
  transport::PeerIdentity peer() const { return link_->identity(); }

  /// Waits until nobody else sends, sends, and returns the bytes of the frame. Fails: as links do.
  Expected<std::uint64_t> send(const wire::Message& message, Deadline deadline = std::nullopt);
  /// Waits for a message that is no ping. Fails: as links do; kCorrupt (one of another pipeline).
  Expected<transport::Received> receive();
  /// Wakes both directions.
  void close();

 private:
  const StageContext& context_;
  const char* const name_;
  std::unique_ptr<transport::Link> link_;
  std::mutex sending_;
  transport::PingAnswers answers_;
};

}  // namespace pareto::daemon
