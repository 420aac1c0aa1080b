// A coordinator's side of a pipeline, for tests of the daemon's.
#pragma once

#include <memory>
#include <string>

#include "core/control/hello.h"
#include "core/transport/transport.h"
#include "daemon/stage/shard_cache.h"
#include "daemon/stage/stage_host.h"

namespace pareto::daemon::test {

/// Long enough for any machine; a test that fails waits this long.
inline constexpr std::chrono::seconds kPatience{60};
inline TimePoint soon() { return *deadline_after(kPatience); }

wire::Message request_message(std::uint64_t pipeline, std::uint64_t request, Value body);
/// Returns a request of one 1x4 tensor.
wire::Message request_message(std::uint64_t pipeline, std::uint64_t request, float value);
wire::Message message_of(wire::MessageKind kind, std::uint64_t pipeline = 0);

/// Connects and is told ready.
Expected<std::unique_ptr<transport::Link>> connect_as(transport::Transport& transport,
                                                      const std::string& address,
                                                      const control::Hello& hello);

/// Two stages on two hosts, each adding 2 to its floats, with source and sink connected and
/// started.
struct TwoStages {
  static constexpr std::uint64_t kPipeline = 0xfedcba9876543210;

  /// address: where hosts listen, on that transport. `source_beat`: how often the source says that
  /// it shows life, which it does not.
  static Expected<std::unique_ptr<TwoStages>> open(
      const std::shared_ptr<transport::Transport>& transport, const std::string& address,
      std::shared_ptr<LoadedShard> first, std::shared_ptr<LoadedShard> second,
      std::uint32_t queue = 4, Nanoseconds source_beat = Nanoseconds(0));

  std::unique_ptr<StageHost> hosts[2];
  std::unique_ptr<transport::Link> source;
  std::unique_ptr<transport::Link> sink;
  Nanoseconds round_trip{};
};

Expected<std::unique_ptr<StageHost>> host_on(const std::shared_ptr<transport::Transport>& transport,
                                             const std::string& address,
                                             const std::string& device = "device",
                                             Nanoseconds hello_timeout = kPatience);

}  // namespace pareto::daemon::test
