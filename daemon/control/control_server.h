// The gRPC face of the daemon: proto/control.proto answered by the store, the cache and the host,
// with health.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/machine.h"
#include "core/transport/place.h"
#include "daemon/control/machine.h"
#include "daemon/control/network_lease.h"
#include "daemon/stage/memory.h"
#include "daemon/stage/shard_cache.h"
#include "daemon/stage/stage_host.h"
#include "daemon/stage/tensor_store.h"
#include "runtime/shard_runner.h"

namespace pareto::tls {
class Credentials;
}

namespace pareto::daemon {

/// A shard's archive and manifest travel in one message, a tensor in chunks. The largest of these
/// is kilobytes; what a message holds once it is parsed is up to eight times as much.
inline constexpr int kMaxControlMessageBytes = 16 << 20;
inline constexpr std::size_t kMaxChunkBytes = std::size_t{1} << 20;

/// Returns a number that nobody can guess, of the operating system.
std::uint64_t random_number();

/// The parts that the service answers with. All outlive the server.
struct ControlParts {
  TensorStore& store;
  ShardCache& shards;
  StageHost& stages;
  NetworkLease& network;
  std::string name;
  int default_threads = 1;  ///< threads for settings that name none
  Machine machine;
  runtime::RuntimeInfo runtime;
  std::vector<std::string> engines;
  MemoryProbe memory = read_memory;
  std::string default_device = "cpu";  ///< device for settings that name none
  MachineProbe machine_state = [] { return control::MachineState{}; };
  transport::Place place = transport::this_place();
  int limit_cores = 0;  ///< cores that shards may compute on together; 0: no limit
  /// Credentials that calls over a network are secured by; null: they are not secured.
  std::shared_ptr<tls::Credentials> credentials{};
  bool insecure = false;                    ///< everybody is let in, from other machines too
  std::uint64_t process = random_number();  ///< a random number of this process
};

/// Returns an address to listen on as one that works from this machine: an unspecified host is
/// loopback.
std::string address_from_here(const std::string& address);

/// Serves from construction to stop().
///
/// Threads: calls are answered on gRPC's own threads; start and stop from the owner.
class ControlServer {
 public:
  /// Starts serving at `address`: "HOST:PORT", where port 0 picks one, or "unix:/FILE". With
  /// credentials a port speaks mutual TLS only. `socket`: a file of a Unix socket to serve at too,
  /// for users of this machine; if it can't be had and is not `needed`, the log says so.
  /// Fails: kPermission, with the address and the reason (in use, not allowed), kInvalidArgument
  /// (no address), kUnavailable (not this machine's, or not yet).
  static Expected<std::unique_ptr<ControlServer>> start(const std::string& address,
                                                        ControlParts parts,
                                                        const std::string& socket = "",
                                                        bool needed = true);
  /// Stops at once, like stop().
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  /// Returns the host asked for, and the real port.
  const std::string& address() const;
  /// Returns the file of the Unix socket next to it; "" if there is none.
  const std::string& socket() const;
  /// Says in the log who connected and made no call, each host at most once a minute.
  void tell_of_silent_peers();
  /// Shows new callers the credentials that were refreshed, and ends the sessions whose
  /// certificates have been taken back. Fails: kExhausted; callers see the old ones then.
  Expected<> renew_credentials();
  /// Calls itself over a connection of its own. Fails: kUnavailable, if no answer comes in time.
  Expected<> check_answers(Nanoseconds patience) const;
  /// Lets health checks answer "not serving" from now on. Calls are still answered.
  void announce_stop();
  /// Takes no more calls, and ends the sessions of coordinators; calls under way are cancelled at
  /// the deadline. Returns when all have ended: loading a shard cannot be interrupted.
  void stop(TimePoint deadline);

 private:
  struct Impl;
  explicit ControlServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::daemon
