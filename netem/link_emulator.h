// A link between two network namespaces with a condition on it, for kernels without netem: no more than TUN devices and tbf.
//
//   namespace A: sockets ─▶ tbf (rate, queue) ─▶ TUN ─▶ [this process: delay, loss, …] ─▶ TUN ─▶ sockets, namespace B     and the same back
//
// Packets are handed on as they are: up to 64 KiB of TCP segments at a time where all fare alike, else one by one. What the queue has no
// room for is dropped on the sender's own machine, which tells its TCP at once; it is not a loss that must be found out by waiting.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/plan/condition.h"
#include "netem/network_namespace.h"

namespace pareto::netem {

/// One side of a link: where its device is, and its IPv4 address on the link ("10.213.0.1").
struct LinkEnd {
  const NetworkNamespace& where;
  std::string address;
};

/// The link is there while this lives. Devices and queues end with the process at the latest, whatever ends it.
///
/// Threads: one owner; it has one of its own for each direction.
class LinkEmulator {
 public:
  /// Forward is from `first` to `second`; both may go afterwards. Time begins now for what changes with it. The same seed gives packets
  /// the same fates. Fails: kPermission (root is needed), kUnavailable (the kernel has no TUN or no tbf),
  /// kNotFound (iproute2 is not installed); each with its remedy.
  static Expected<std::unique_ptr<LinkEmulator>> create(const LinkEnd& first, const LinkEnd& second,
                                                        const Condition& condition,
                                                        std::uint64_t seed = 1);
  virtual ~LinkEmulator() = default;

  /// Another condition from now on; its time begins now. Packets on their way arrive as they would have. Fails: as create does; the link
  /// may then be neither the one nor the other.
  virtual Expected<> change(const Condition& condition) = 0;

  /// Packets that were lost because this machine could not keep up: a measurement under way then measured something else.
  virtual std::uint64_t lost_packets() const = 0;
  /// What was lost as the condition has it: `loss` and `burst_loss`, both directions.
  virtual std::uint64_t dropped_packets() const = 0;
  /// Fails, as tc does, where a change of the rate could not be made: the link is not what was asked for since then.
  virtual Expected<> check() const = 0;

 protected:
  LinkEmulator() = default;
};

}  // namespace pareto::netem
