// A stage of a fake daemon: it adds the number of its operators to every element of what comes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/control/stage_request.h"
#include "core/transport/transport.h"

namespace pareto::test {

/// Time that a peer has to say hello.
inline constexpr std::chrono::seconds kHandshake{5};

/// The behaviour that a test gives all stages of a daemon.
struct StageScript {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::atomic<bool> hanging{false};       ///< they swallow requests
  std::atomic<bool> misreporting{false};  ///< they say that they took less than no time
  std::atomic<std::uint64_t> failing_request{kNone};
  std::atomic<std::uint64_t> last_request{kNone};  ///< the daemon dies when it is sent this one
  /// Time of an operator. No value means that stages say what they really take.
  std::optional<Nanoseconds> operator_time;
  Nanoseconds shard_time{};
  Nanoseconds sway{};  ///< time that every other request takes more
  /// They answer steps of training. A forward pass takes what its operators take, a backward pass
  /// twice that.
  bool training = false;
};

/// Answers pings over a link until it ends.
void answer_pings(transport::Link& link);

/// A stage that runs until a link ends. Threads: serves requests and answers pings on its own; one
/// other at a time calls take() and close().
class FakeStage {
 public:
  /// `device` is the daemon's name; `die` ends the daemon. The script must outlive the stage.
  FakeStage(control::StageRequest request, std::string device, const StageScript& script,
            std::function<void()> die);

  /// Connects to the next stage, if the request names one.
  Expected<> connect_next(transport::Transport& transport);
  /// Takes the link to the sink, or the one that requests come over. Begins to serve once both are
  /// there.
  void take(std::unique_ptr<transport::Link> link, bool is_sink);
  bool is_connected() const { return upstream_ && downstream_; }
  void set_operators(std::int64_t operators) { operators_ = operators; }
  std::uint64_t requests() const { return requests_; }
  std::uint64_t swallowed() const { return swallowed_; }
  void close();

 private:
  void serve_requests();
  /// Returns false if the stage ends with what was received.
  bool handle(transport::Received received);
  /// Answers a message of a training; likewise.
  bool train(wire::Message message);

  const control::StageRequest request_;
  const std::string device_;
  const StageScript& script_;
  const std::function<void()> die_;
  std::atomic<std::int64_t> operators_{0};
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> swallowed_{0};
  std::unique_ptr<transport::Link> upstream_;
  std::unique_ptr<transport::Link> downstream_;
  std::jthread working_;
  std::jthread answering_;
};

}  // namespace pareto::test
