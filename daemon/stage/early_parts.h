// Chooses outputs of a shard that are sent ahead of the others, while the shard still runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "core/wire/message.h"
#include "runtime/shard_runner.h"

namespace pareto::daemon {

/// Sends an output ahead if, in the last request, it was ready long before the end
/// (wire::kWorthAPart). It sends none ahead while others wait to be sent, because that gains
/// nothing. Waiting for room would delay all stages that share the shard.
///
/// Threads: the one that runs the shard.
class EarlyParts final : public runtime::EarlyOutputs {
 public:
  using Send = std::function<void(wire::Message part)>;
  using HasRoom = std::function<bool()>;
  /// Takes a `send` that never waits while `has_room` is true. `clock` outlives this object.
  EarlyParts(HasRoom has_room, Send send, const Clock& clock)
      : has_room_(std::move(has_room)), send_(std::move(send)), clock_(clock) {}

  /// Begins a request.
  void begin(std::uint64_t pipeline, std::uint64_t request);
  /// Ends the request. Returns how many parts were sent.
  std::uint32_t end();

  bool wants(std::size_t index) override;
  void take(std::size_t index, Value value) override;

 private:
  struct Output {
    std::optional<TimePoint> ready;  ///< when it was ready in this request
    Nanoseconds lead{};              ///< in the last request, the time from ready to end
  };
  const HasRoom has_room_;
  const Send send_;
  const Clock& clock_;
  std::uint64_t pipeline_ = 0;
  std::uint64_t request_ = 0;
  std::uint32_t sent_ = 0;
  std::vector<Output> outputs_;
};

}  // namespace pareto::daemon
