// The session that this program has with one daemon, the call Attend of proto/control.proto. It
// begins when it is first needed. Beats keep it, and tell a daemon that hangs or cannot be reached.
//
//   writer thread ──request, a beat every second──▶ daemon
//   reader thread ◀──session number, or those who use the device──
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/control/device_use.h"

namespace grpc {
class Channel;
}

namespace pareto::cluster {

/// The session with one daemon, from the first call that needs it.
///
/// Threads: any. It has two of its own while there is a session.
class Session {
 public:
  /// `own`: credentials of the channel; null: it has none. `channel`: a connection of its own, so
  /// that no beat waits behind what else is sent. `beats`: the daemon knows them. `on_loss` is
  /// called once when the daemon gives no sign of life any more, or its certificate was taken back,
  /// by another thread. The configuration outlives it.
  Session(const DeviceConfig& config, std::shared_ptr<const tls::Credentials> own,
          std::shared_ptr<grpc::Channel> channel, bool beats, std::function<void()> on_loss);
  /// Ends the session: the daemon undoes what is left of it.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Names the data addresses that links may be opened to, from the next number() on.
  void name_peers(std::vector<std::string> addresses);

  /// Hears of those who use the device while its turn is waited for. Returns whether to go on.
  using Waiting = std::function<bool(const std::vector<control::Holder>&)>;
  /// Takes the device for a use, and waits for it until the deadline. Returns the last known term
  /// of the lease. Fails: kUnavailable (others use it: the session is then let go), kPermission
  /// (the term is over), and as number().
  Expected<std::uint64_t> take(const control::DeviceUse& use, TimePoint until,
                               const Waiting& waiting);
  /// Lets the device go: the session ends, and another may begin.
  void release();

  /// Returns the number of the session, which it begins if there is none. Once it has ended the
  /// number stays, and the daemon says why at the next call. Fails: as calls do; kUnavailable (the
  /// daemon is lost, or takes no coordinator).
  Expected<std::uint64_t> number();
  /// Returns the number without beginning a session; 0: there is none.
  std::uint64_t known() const;
  /// Returns why the daemon counts as lost; no value if it does not.
  std::optional<Error> loss() const;
  /// Ends the session at once, and makes number() fail.
  void abandon();

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::cluster
