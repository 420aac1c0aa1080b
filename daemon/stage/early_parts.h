// Which outputs of a shard travel ahead of the others, while it still runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "core/runtime/shard_runner.h"
#include "core/wire/message.h"

namespace pareto::daemon {

/// An output that was ready well before the end of the last request (wire::kWorthAPart) is sent ahead in the next one. Where others wait to be
/// sent already it has nothing to gain, and waiting for room would hold up all who share the shard.
///
/// Threads: that which runs the shard.
class EarlyParts final : public runtime::EarlyOutputs {
 public:
  using Send = std::function<void(wire::Message part)>;
  using HasRoom = std::function<bool()>;
  /// `send` never waits while there is room. clock: outlives it.
  EarlyParts(HasRoom has_room, Send send, const Clock& clock)
      : has_room_(std::move(has_room)), send_(std::move(send)), clock_(clock) {}

  /// A request begins to run.
  void begin(std::uint64_t pipeline, std::uint64_t request);
  /// It has run. Returns how many parts were sent.
  std::uint32_t end();

  bool wants(std::size_t index) override;
  void take(std::size_t index, Value value) override;

 private:
  struct Output {
    std::optional<TimePoint> ready;  ///< in this request
    Nanoseconds lead{};              ///< from then on to the end, in the one before
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
